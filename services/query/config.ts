import { storeSettings } from '#shared/store/config.ts'
import { findDataDirectory } from '#shared/store/data-directory.ts'
import { processSettings } from '#shared/config/process.ts'
import { displayZoneSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  exactTextSetting,
  flagSetting,
  choiceSetting,
  optionalTextSetting,
  findSettingProblems,
  parseSettings,
  secretSetting,
  type Setting,
  type SettingProblem,
  textSetting,
  wholeNumberSetting,
} from '#shared/config/setting.ts'
import { defaultEventsTable } from './definitions/events.ts'
import { historySettings } from './history/settings.ts'
import { findingsSettings } from './insights/findings-table.ts'
import { postgresSourceSettings } from './postgres-source/source.ts'
import { parseHostVariables, readHostFile } from './hosts/parse-host-list.ts'
import type { StatementPermissions } from './read-only/read-only.ts'
import { repldbSettings } from './repldb/repldb-settings.ts'
import { ruleSettings } from './rules/rule-settings.ts'

/** Returns a setting for a row cap; 0 and non-numeric values mean no cap. */
const rowCap = (fallback: number, doc: string): Setting<number | undefined> => ({
  doc,
  audience: 'server',
  fallback: String(fallback),
  allowed: 'whole number ≥ 1; 0 or anything else means no cap',
  parse: (raw) => {
    if (raw === undefined) return fallback
    const value = /^\s*\d+\s*$/.test(raw) ? Number(raw) : 0
    return value > 0 ? value : undefined
  },
})

/** Returns a setting for a table name with its database, restricted to characters that are safe within SQL. */
const fullTableName = (fallback: string, doc: string): Setting<string> => ({
  doc,
  audience: 'server',
  fallback,
  allowed: 'database.table, of letters, digits and _',
  parse: (name = fallback) => {
    if (/^\w+\.\w+$/.test(name)) return name
    throw new Error('must be database.table, of letters, digits and _')
  },
})

const hostListSettings = {
  COLUMNDB_HOST: optionalTextSetting('Comma-separated URLs of the monitored hosts.', {
    audience: 'secret',
  }),
  COLUMNDB_USER: textSetting(
    'default',
    'One user for all hosts, or a comma-separated list with one per host. With a single host, commas are part of the name.',
  ),
  COLUMNDB_PASSWORD: secretSetting(
    'One password for all hosts, or a comma-separated list with one per host. With a single host, commas are part of the password.',
  ),
  COLUMNDB_NAME: optionalTextSetting(
    'Comma-separated host labels, in the order of the hosts. With a single host, commas are part of the label.',
  ),
  SVC_HOSTS_FILE: optionalTextSetting(
    'YAML file with a list of hosts: url, label, user, passwordFile, group, tags, keeperMetrics; reloaded on change.',
  ),
} as const

const partSettings = {
  SVC_QUERY_ROLE: choiceSetting(
    ['all', 'own', 'guest'],
    'all',
    'What this process connects to: the hosts of the host list (own), user-supplied connections (guest, without a host list), or both.',
  ),
} as const

/** The settings of the query service. */
export const settings = {
  ...partSettings,
  ...hostListSettings,
  ...findingsSettings,
  ...historySettings,
  ...postgresSourceSettings,
  ...repldbSettings,
  ...ruleSettings,
  COLUMNDB_MAX_EXECUTION_TIME: wholeNumberSetting(60, 'Query timeout in seconds.', { min: 1, max: 86_400 }),
  COLUMNDB_POOL_SIZE: wholeNumberSetting(
    10,
    'Maximum number of concurrent queries per host. Sweeps run up to three more, so that callers cannot block monitoring.',
    { min: 1, max: 1_000 },
  ),
  COLUMNDB_POOL_TIMEOUT: wholeNumberSetting(300_000, 'Idle timeout of host connections, in milliseconds.', {
    min: 1,
  }),
  COLUMNDB_POOL_CLEANUP_INTERVAL: wholeNumberSetting(
    60_000,
    'Interval of the check for idle connections, in milliseconds.',
    {
      min: 1,
      max: 86_400_000,
    },
  ),
  SVC_TABLE_MAX_RESULT_ROWS: rowCap(10_000, 'Maximum number of rows in a table response.'),
  ...displayZoneSettings,
  COLUMNDB_EXCLUDE_USER_DEFAULT: optionalTextSetting(
    'Comma-separated users whose queries are hidden on query history pages by default.',
  ),
  SVC_QUERY_CACHE: flagSetting(true, 'Whether to cache query results and to deduplicate identical concurrent queries.'),
  SVC_TOOL_QUEUE_SECONDS: wholeNumberSetting(
    60,
    'How long a statement of an AI tool waits while the host runs as many queries as allowed. Callers are served in rotation. Then the tool fails as busy.',
    { min: 1, max: 60 },
  ),
  SVC_QUERY_CLUSTER_TABLES: flagSetting(
    false,
    'Allow user queries to read any table through cluster() and clusterAllReplicas(), with the credentials configured for the cluster; otherwise these read system tables only.',
  ),
  EVENTS_TABLE_NAME: fullTableName(
    defaultEventsTable,
    'Table of page-view events on the first host, read by the page-view charts. By default monitoring_events in COLUMNDB_DATABASE. Created on first use; nothing is recorded if the user cannot write.',
  ),
  COLUMNDB_MANAGEMENT_ENABLED: exactTextSetting('true', 'Whether users, roles and grants of the hosts can be changed.'),
  SVC_DEFINITIONS_DIRECTORY: optionalTextSetting(
    'Directory with additional chart, table, rule and metric files, in one folder per topic.',
  ),
} as const

const { SVC_QUERY_CLUSTER_TABLES, EVENTS_TABLE_NAME, COLUMNDB_DATABASE } = settings

/** Returns the name of the page-view events table, with its database. */
export const readEventsTableName = (env: Environment): string => {
  const { EVENTS_TABLE_NAME: named, COLUMNDB_DATABASE: database } = parseSettings(
    { EVENTS_TABLE_NAME, COLUMNDB_DATABASE },
    env,
  )
  return env.EVENTS_TABLE_NAME ? named : defaultEventsTable.replace('system', database)
}

/** Returns the permissions of user statements that the operator has configured. */
export const readPermissions = (env: Environment): StatementPermissions => ({
  clusterTables: parseSettings({ SVC_QUERY_CLUSTER_TABLES }, env).SVC_QUERY_CLUSTER_TABLES,
})

/** Returns the problems that concern several settings: the host list and the role of the process. */
export const problems = (env: Environment): readonly SettingProblem[] => {
  if (findSettingProblems(partSettings, env).length > 0) return []
  const { SVC_QUERY_ROLE: part } = parseSettings(partSettings, env)
  if (part !== 'all' && !env.NATS_URL) {
    return [{ name: 'SVC_QUERY_ROLE', sentence: `cannot be "${part}" without NATS_URL; set NATS_URL or use "all"` }]
  }
  return part === 'guest' ? problemsOfGuest(env) : problemsOfHosts(env)
}

/** Returns the problems of a guest process: it must not have the addresses and passwords of configured hosts. */
const problemsOfGuest = (env: Environment): readonly SettingProblem[] =>
  hostVariables
    .filter((name) => env[name])
    .map((name) => ({ name, sentence: 'must not be set when SVC_QUERY_ROLE is guest' }))

const hostVariables = ['COLUMNDB_HOST', 'COLUMNDB_PASSWORD', 'SVC_HOSTS_FILE', 'SVC_POSTGRES_SOURCE_URL'] as const

const problemsOfHosts = (env: Environment): readonly SettingProblem[] => {
  // Checks only host list settings, so that another invalid setting does not hide host list problems.
  if (findSettingProblems(hostListSettings, env).length > 0) return []
  const values = parseSettings(hostListSettings, env)
  const { COLUMNDB_HOST, SVC_HOSTS_FILE } = values
  if (COLUMNDB_HOST !== undefined && SVC_HOSTS_FILE !== undefined) {
    return [{ name: 'SVC_HOSTS_FILE', sentence: 'cannot be set together with COLUMNDB_HOST; keep one host list' }]
  }
  if (SVC_HOSTS_FILE !== undefined) return readHostFile(SVC_HOSTS_FILE).problems
  if (COLUMNDB_HOST !== undefined) return parseHostVariables(values).problems
  // An invalid NODE_ENV is reported with the settings of the process.
  const { NODE_ENV } = processSettings
  if (findSettingProblems({ NODE_ENV }, env).length > 0 || parseSettings({ NODE_ENV }, env).NODE_ENV !== 'production')
    return []
  if (canAddHosts(env)) return []
  return [{ name: 'COLUMNDB_HOST', sentence: 'is required in production, unless SVC_HOSTS_FILE names a host list' }]
}

/** Returns whether a single process keeps the hosts that users add, so that it can start without any. */
const canAddHosts = (env: Environment): boolean =>
  findSettingProblems(storeSettings, env).length === 0 && findDataDirectory(env) !== undefined
