import { processSettings } from '#shared/config/process.ts'
import { displayZoneSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import {
  exactly,
  flag,
  oneOf,
  optional,
  problemsOf,
  read,
  secret,
  type Setting,
  type SettingProblem,
  text,
  whole,
} from '#shared/config/setting.ts'
import { defaultEventsTable } from './definitions/events.ts'
import { findingsSettings } from './insights/findings-table.ts'
import { postgresSourceSettings } from './postgres-source/source.ts'
import { hostsFromEnvironment, hostsFromFile } from './hosts/written-list.ts'
import type { Allowed } from './read-only/read-only.ts'
import { repldbSettings } from './repldb/repldb-settings.ts'
import { ruleSettings } from './rules/rule-settings.ts'

/** A row cap where 0 and whatever is no number mean none, as the configuration reference says. */
const rowCap = (fallback: number, doc: string): Setting<number | undefined> => ({
  doc,
  audience: 'server',
  fallback: String(fallback),
  allowed: 'whole number ≥ 1; 0 or anything else means no cap',
  parse: (given) => {
    if (given === undefined) return fallback
    const value = /^\s*\d+\s*$/.test(given) ? Number(given) : 0
    return value > 0 ? value : undefined
  },
})

/** A table with its database; the name stands within SQL, so it may hold nothing that means more. */
const fullTableName = (fallback: string, doc: string): Setting<string> => ({
  doc,
  audience: 'server',
  fallback,
  allowed: 'database.table, of letters, digits and _',
  parse: (given = fallback) => {
    if (/^\w+\.\w+$/.test(given)) return given
    throw new Error('must be database.table, of letters, digits and _')
  },
})

const hostListSettings = {
  COLUMNDB_HOST: optional('Comma-separated URLs of the monitored hosts; their number is the host count.', {
    audience: 'secret',
  }),
  COLUMNDB_USER: text('default', 'One user for all hosts, or one per host position. With one host taken whole.'),
  COLUMNDB_PASSWORD: secret('One password for all hosts, or one per host position. With one host taken whole.'),
  COLUMNDB_NAME: optional('Labels by host position, comma-separated. With one host taken whole.'),
  SVC_HOSTS_FILE: optional(
    'YAML list of hosts: url, label, user, passwordFile, group, tags, keeperMetrics; read again after a change.',
  ),
} as const

const partSettings = {
  SVC_QUERY_ROLE: oneOf(
    ['all', 'own', 'guest'],
    'all',
    'What this process connects to: the hosts of the host list (own), databases that people bring (guest, which takes no host list), or both.',
  ),
} as const

/** The variables that this service obeys. */
export const settings = {
  ...partSettings,
  ...hostListSettings,
  ...findingsSettings,
  ...postgresSourceSettings,
  ...repldbSettings,
  ...ruleSettings,
  COLUMNDB_MAX_EXECUTION_TIME: whole(60, 'Time limit of a statement, in seconds.', { min: 1, max: 86_400 }),
  COLUMNDB_POOL_SIZE: whole(
    10,
    'Statements of callers that run on one host at the same time. Sweeps run up to three more, so that callers cannot stop the monitoring.',
    { min: 1, max: 1_000 },
  ),
  COLUMNDB_POOL_TIMEOUT: whole(300_000, 'Connections of a host unused for this long are closed, in milliseconds.', {
    min: 1,
  }),
  COLUMNDB_POOL_CLEANUP_INTERVAL: whole(60_000, 'How often unused connections are looked for, in milliseconds.', {
    min: 1,
    max: 86_400_000,
  }),
  SVC_TABLE_MAX_RESULT_ROWS: rowCap(10_000, 'Most rows of one table answer.'),
  ...displayZoneSettings,
  COLUMNDB_EXCLUDE_USER_DEFAULT: optional(
    'Comma-separated users whose queries pages of past queries leave out unless the reader says otherwise.',
  ),
  SVC_QUERY_CACHE: flag(true, 'Reuse answers for their cache class and share one statement among equal questions.'),
  SVC_QUERY_CLUSTER_TABLES: flag(
    false,
    'Lets statements of callers read any table through cluster() and clusterAllReplicas(), with the credentials that the cluster configures; otherwise those read system tables only.',
  ),
  EVENTS_TABLE_NAME: fullTableName(
    defaultEventsTable,
    'Table of self-tracking events on the first host: pages that people open, which the page-view charts read. By default monitoring_events in COLUMNDB_DATABASE. It is created the first time; a user that may not write keeps none.',
  ),
  COLUMNDB_MANAGEMENT_ENABLED: exactly('true', 'Lets people change users, roles and grants of the hosts.'),
  SVC_DEFINITIONS_DIRECTORY: optional(
    'Directory with further chart, table, rule and metric files, in folders that name the topic.',
  ),
} as const

const { SVC_QUERY_CLUSTER_TABLES, EVENTS_TABLE_NAME, COLUMNDB_DATABASE } = settings

/** The table of self-tracking events, with its database. */
export const eventsTable = (env: Environment): string => {
  const { EVENTS_TABLE_NAME: named, COLUMNDB_DATABASE: database } = read({ EVENTS_TABLE_NAME, COLUMNDB_DATABASE }, env)
  return env.EVENTS_TABLE_NAME ? named : defaultEventsTable.replace('system', database)
}

/** What the operator allows statements of callers. */
export const allowedBy = (env: Environment): Allowed => ({
  clusterTables: read({ SVC_QUERY_CLUSTER_TABLES }, env).SVC_QUERY_CLUSTER_TABLES,
})

/** What is wrong with the settings taken together: the host list, and who has it. */
export const problems = (env: Environment): readonly SettingProblem[] => {
  if (problemsOf(partSettings, env).length > 0) return []
  const { SVC_QUERY_ROLE: part } = read(partSettings, env)
  if (part !== 'all' && !env.NATS_URL) {
    return [{ name: 'SVC_QUERY_ROLE', sentence: `cannot be ${part} without NATS_URL: one process connects to all` }]
  }
  return part === 'guest' ? problemsOfGuest(env) : problemsOfHosts(env)
}

/** Whoever may connect anywhere must not know the passwords of the operator's own hosts. */
const problemsOfGuest = (env: Environment): readonly SettingProblem[] =>
  hostVariables
    .filter((name) => env[name])
    .map((name) => ({ name, sentence: 'must not be set where SVC_QUERY_ROLE is guest' }))

const hostVariables = ['COLUMNDB_HOST', 'COLUMNDB_PASSWORD', 'SVC_HOSTS_FILE', 'SVC_POSTGRES_SOURCE_URL'] as const

const problemsOfHosts = (env: Environment): readonly SettingProblem[] => {
  // Only what the host list is made of: another wrong setting must not hide what is wrong with it.
  if (problemsOf(hostListSettings, env).length > 0) return []
  const given = read(hostListSettings, env)
  const { COLUMNDB_HOST, SVC_HOSTS_FILE } = given
  if (COLUMNDB_HOST !== undefined && SVC_HOSTS_FILE !== undefined) {
    return [{ name: 'SVC_HOSTS_FILE', sentence: 'cannot be set together with COLUMNDB_HOST; keep one host list' }]
  }
  if (SVC_HOSTS_FILE !== undefined) return hostsFromFile(SVC_HOSTS_FILE).problems
  if (COLUMNDB_HOST !== undefined) return hostsFromEnvironment(given).problems
  // A value that is invalid is reported with the settings of the process.
  const { NODE_ENV } = processSettings
  if (problemsOf({ NODE_ENV }, env).length > 0 || read({ NODE_ENV }, env).NODE_ENV !== 'production') return []
  return [{ name: 'COLUMNDB_HOST', sentence: 'is required in production, unless SVC_HOSTS_FILE names a host list' }]
}
