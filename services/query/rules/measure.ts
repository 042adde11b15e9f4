import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { unavailableBy } from '../clickhouse/availability.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { clickhouseCode, failureReason } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { maxSweeps } from '../clickhouse/turns.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type Ready, readingsOf, type Group, groupOf, type Measurable, type Plan, type Planning } from './plan.ts'
import { type Measured, untold } from './measured.ts'
import { ruleSettings } from './rule-settings.ts'
import type { Trouble, Troubles } from './troubles.ts'

/** Where statements are asked. */
interface Place {
  env: Environment
  client: DatabaseClient
  host: MonitoredHost
  troubles: Troubles
  planFor(planning: Planning): Plan
  clock: Clock
  ask(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
}

/** Nothing is asked one by one any more when a host has taken this long, for nobody waits for all of it then. */
const patienceMs = 25_000

/** What each measures, in few statements; one that fails makes none of the others unknown. */
export const measureAll = async (
  place: Place,
  { version, tables, logs }: Capabilities,
  wanted: readonly Measurable[],
): Promise<Map<string, Measured>> => {
  const { host } = place
  const measured = new Map<string, Measured>()
  const { askable, slow } = withoutTroubles(place, wanted, measured)
  const { HEALTH_ALERT_STATEMENT_VALUES: withValues } = read(ruleSettings, place.env)
  const plan = place.planFor({ version, tables, logs, wanted: askable, slow, withValues })
  for (const [key, why] of plan.untold) measured.set(key, untold(why(host)))
  const groups = plan.groups.values()
  const untilMs = place.clock.elapsedMs() + patienceMs
  const worker = async (): Promise<void> => {
    for (const group of groups)
      for (const [key, reading] of await measureGroup(place, group, untilMs)) measured.set(key, reading)
  }
  // The probe, which needs no turn, would be one more.
  await Promise.all(Array.from({ length: maxSweeps }, worker))
  return measured
}

/** What is asked at all, and which of it has taken too long on this host; what would fail again is said to. */
const withoutTroubles = (
  { troubles, host }: Place,
  wanted: readonly Measurable[],
  measured: Map<string, Measured>,
): { askable: Measurable[]; slow: Set<string> } => {
  const askable: Measurable[] = []
  const slow = new Set<string>()
  const ofHost = troubles.of(host)
  for (const each of wanted) {
    const trouble = ofHost(each.key)
    if (trouble?.isLasting) measured.set(each.key, untold(trouble.reason))
    else {
      askable.push(each)
      if (trouble) slow.add(each.key)
    }
  }
  return { askable, slow }
}

const measureGroup = async (place: Place, group: Group, untilMs: number): Promise<Map<string, Measured>> => {
  const { asked, statement } = group
  try {
    const { rows } = await place.ask(statement)
    return readingsOf(place.host, asked, rows)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [only, ...others] = asked
    const isOfOne = mayConcernOne(error)
    if (others.length > 0 && isOfOne) return measureEach(place, asked, untilMs)
    if (only && others.length === 0 && isOfOne) place.troubles.tell(place.host, only.key, troubleOf(place, only, error))
    return new Map(asked.map((each) => [each.key, untold(troubleOf(place, each, error).reason)]))
  }
}

const measureEach = async (place: Place, asked: readonly Ready[], untilMs: number): Promise<Map<string, Measured>> => {
  const measured = new Map<string, Measured>()
  for (const each of asked) {
    if (place.clock.elapsedMs() >= untilMs)
      measured.set(each.key, untold(`host ${place.host.name} was too slow for this sweep`))
    else for (const [key, reading] of await measureGroup(place, groupOf([each]), untilMs)) measured.set(key, reading)
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
