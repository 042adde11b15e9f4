import type { Sql } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { tooOld, unavailableBy } from '../availability.ts'
import type { Clock } from '#shared/clock.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { clickhouseCode, failureReason } from '../clickhouse/failure.ts'
import { maxBackground } from '../clickhouse/queue.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { ruleScope } from '../definitions/check-rule.ts'
import { expandMacros } from '../definitions/macros.ts'
import { sqlFor } from '../definitions/version.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { groupsOf } from './groups.ts'
import { joinedStatement, type Ready, readingsOf } from './joined.ts'
import { type Measured, untold } from './measured.ts'
import { ruleSettings } from './rule-settings.ts'
import type { Trouble, Troubles } from './troubles.ts'

/** A rule with a statement, or a metric, under a key of its own. */
export interface Measurable extends Pick<RuleDefinition, 'requires' | 'lastMinutes' | 'columns' | 'alone'> {
  key: string
  sql: Sql
}

/** Where statements are asked. */
export interface Place {
  env: Environment
  client: DatabaseClient
  host: MonitoredHost
  troubles: Troubles
  clock: Clock
  ask(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
}

/** Nothing is asked one by one any more when a host has taken this long, for nobody waits for all of it then. */
const patienceMs = 25_000

/** What each measures, in few statements; one that fails makes none of the others unknown. */
export const measureAll = async (
  place: Place,
  capabilities: Capabilities,
  wanted: readonly Measurable[],
): Promise<Map<string, Measured>> => {
  const measured = new Map<string, Measured>()
  const ready: Ready[] = []
  const { HEALTH_ALERT_STATEMENT_VALUES: withValues } = read(ruleSettings, place.env)
  for (const each of wanted) {
    const prepared = prepare(place, capabilities, each, withValues)
    if (typeof prepared === 'string') measured.set(each.key, untold(prepared))
    else ready.push(prepared)
  }
  const groups = groupsOf(ready).values()
  const untilMs = place.clock.now() + patienceMs
  const worker = async (): Promise<void> => {
    for (const group of groups)
      for (const [key, reading] of await measureGroup(place, group, untilMs)) measured.set(key, reading)
  }
  // The probe, which needs no turn, would be one more.
  await Promise.all(Array.from({ length: maxBackground }, worker))
  return measured
}

/** The statement for this host, or why it cannot be asked there. */
const prepare = (
  { host, troubles }: Place,
  { version, tables }: Capabilities,
  wanted: Measurable,
  withValues: boolean,
): Ready | string => {
  const sql = sqlFor(wanted.sql, version)
  if (sql === undefined) return tooOld(host, version).message
  const missing = wanted.requires.filter((table) => !tables.has(table.slice('system.'.length)))
  if (missing.length > 0) return `host ${host.name} has no ${missing.join(', ')}, or its user may not see it`
  const trouble = troubles.of(host, wanted.key)
  if (trouble?.isLasting) return trouble.reason
  return {
    ...wanted,
    sql: expandMacros(sql.trim(), ruleScope(wanted, tables, withValues)),
    isSlow: trouble !== undefined,
  }
}

const measureGroup = async (place: Place, group: readonly Ready[], untilMs: number): Promise<Map<string, Measured>> => {
  try {
    const { rows } = await place.ask(joinedStatement(group))
    return readingsOf(place.host, group, rows)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [only, ...others] = group
    const isOfOne = mayConcernOne(error)
    if (others.length > 0 && isOfOne) return measureEach(place, group, untilMs)
    if (only && others.length === 0 && isOfOne) place.troubles.tell(place.host, only.key, troubleOf(place, only, error))
    return new Map(group.map((each) => [each.key, untold(troubleOf(place, each, error).reason)]))
  }
}

const measureEach = async (place: Place, group: readonly Ready[], untilMs: number): Promise<Map<string, Measured>> => {
  const measured = new Map<string, Measured>()
  for (const each of group) {
    if (place.clock.now() >= untilMs)
      measured.set(each.key, untold(`host ${place.host.name} was too slow for this sweep`))
    else for (const [key, reading] of await measureGroup(place, [each], untilMs)) measured.set(key, reading)
  }
  return measured
}

/** A statement that failed or took too long may have done so for one of its rules; a host that is away or full is so for all. */
const mayConcernOne = (error: ServiceError): boolean =>
  error.code !== 'busy' &&
  (clickhouseCode(error) !== undefined || failureReason(error) === 'timeout' || error.code === 'too-large')

const accessDenied = 497
/** Columns, functions, tables and settings that this server does not have; and what its user may not read. */
const lasting = new Set<number | undefined>([10, 16, 36, 42, 43, 46, 47, 53, 60, 81, 115, 139, 225, 386, accessDenied])

const troubleOf = ({ client, host }: Place, ready: Ready, error: ServiceError): Trouble => {
  const code = clickhouseCode(error)
  const name = error.details?.clickhouseName
  const told = unavailableBy(client, host, ready, error)?.message
  // What the server says itself repeats the statement.
  const said = code === undefined ? error.message : `host ${host.name} cannot answer this (${code} ${String(name)})`
  return { reason: told ?? said, isLasting: lasting.has(code), isDenied: code === accessDenied }
}
