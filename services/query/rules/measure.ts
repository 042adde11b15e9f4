import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { findUnavailableReason } from '../clickhouse/availability.ts'
import type { HostCapabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { findClickhouseErrorCode, findFailureReason } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { toIncompleteReason } from '../clickhouse/show-privileges.ts'
import { maxSweepStatements } from '../clickhouse/host-queues.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import {
  type PreparedRule,
  parseMeasurements,
  type RuleGroup,
  createRuleGroup,
  type SqlMeasuredDefinition,
  type MeasurementPlan,
  type PlanInput,
} from './plan.ts'
import { type Measurement, createMissingMeasurement, addIncompleteReason } from './measurement.ts'
import { ruleSettings } from './rule-settings.ts'
import type { RuleFailure, RuleFailureRegistry } from './rule-failures.ts'

interface MeasureDeps {
  env: Environment
  client: DatabaseClient
  host: MonitoredHost
  troubles: RuleFailureRegistry
  planFor(planning: PlanInput): MeasurementPlan
  clock: Clock
  run(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
}

/** After this time a failed group is no longer split into single statements. */
const maxSplitMs = 25_000

/** Measures rules in few statements. A rule that fails does not affect the others. */
export const measureRules = async (
  place: MeasureDeps,
  { version, tables, logs, missingShow }: HostCapabilities,
  wanted: readonly SqlMeasuredDefinition[],
): Promise<Map<string, Measurement>> => {
  const { host } = place
  const measured = new Map<string, Measurement>()
  const { runnable, slow } = withoutFailures(place, wanted, measured)
  const { HEALTH_ALERT_STATEMENT_VALUES: withValues } = parseSettings(ruleSettings, place.env)
  const plan = place.planFor({ version, tables, logs, wanted: runnable, slow, withValues })
  for (const [key, why] of plan.unavailable) measured.set(key, createMissingMeasurement(why(host)))
  const groups = plan.groups.values()
  const untilMs = place.clock.elapsedMs() + maxSplitMs
  const worker = async (): Promise<void> => {
    for (const group of groups)
      for (const [key, reading] of await measureGroup(place, group, untilMs)) measured.set(key, reading)
  }
  // All slots for sweeps are used, because the probe needs none.
  await Promise.all(Array.from({ length: maxSweepStatements }, worker))
  for (const { key, requires } of wanted) {
    const incomplete = toIncompleteReason(host, missingShow, requires)
    const reading = measured.get(key)
    if (incomplete && reading) measured.set(key, addIncompleteReason(reading, incomplete))
  }
  return measured
}

/** Skips rules that would fail again. Returns the others, and the keys of those that were slow on this host. */
const withoutFailures = (
  { troubles, host }: MeasureDeps,
  wanted: readonly SqlMeasuredDefinition[],
  measured: Map<string, Measurement>,
): { runnable: SqlMeasuredDefinition[]; slow: Set<string> } => {
  const runnable: SqlMeasuredDefinition[] = []
  const slow = new Set<string>()
  const ofHost = troubles.of(host)
  for (const each of wanted) {
    const trouble = ofHost(each.key)
    if (trouble?.isPersistent) measured.set(each.key, createMissingMeasurement(trouble.reason))
    else {
      runnable.push(each)
      if (trouble) slow.add(each.key)
    }
  }
  return { runnable, slow }
}

const measureGroup = async (
  place: MeasureDeps,
  group: RuleGroup,
  untilMs: number,
): Promise<Map<string, Measurement>> => {
  const { rules, statement } = group
  try {
    const { rows } = await place.run(statement)
    return parseMeasurements(place.host, rules, rows)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const [only, ...others] = rules
    const isOfOne = mayConcernOne(error)
    if (others.length > 0 && isOfOne) return measureEach(place, rules, untilMs)
    if (only && others.length === 0 && isOfOne)
      place.troubles.record(place.host, only.key, troubleOf(place, only, error))
    return new Map(rules.map((each) => [each.key, createMissingMeasurement(troubleOf(place, each, error).reason)]))
  }
}

const measureEach = async (
  place: MeasureDeps,
  rules: readonly PreparedRule[],
  untilMs: number,
): Promise<Map<string, Measurement>> => {
  const measured = new Map<string, Measurement>()
  for (const each of rules) {
    if (place.clock.elapsedMs() >= untilMs)
      measured.set(
        each.key,
        createMissingMeasurement(`host ${place.host.name}: timeout of the sweep; the next sweep retries it`),
      )
    else
      for (const [key, reading] of await measureGroup(place, createRuleGroup([each]), untilMs))
        measured.set(key, reading)
  }
  return measured
}

/** Returns whether one rule may have caused the error. An unreachable or busy host affects all rules. */
const mayConcernOne = (error: ServiceError): boolean =>
  error.code !== 'busy' &&
  (findClickhouseErrorCode(error) !== undefined || findFailureReason(error) === 'timeout' || error.code === 'too-large')

const accessDenied = 497
/** Error codes for missing columns, functions, tables, settings and grants. */
const persistentCodes = new Set<number | undefined>([
  10,
  16,
  36,
  42,
  43,
  46,
  47,
  53,
  60,
  81,
  115,
  139,
  225,
  386,
  accessDenied,
])

const troubleOf = ({ client, host }: MeasureDeps, ready: PreparedRule, error: ServiceError): RuleFailure => {
  const code = findClickhouseErrorCode(error)
  const name = error.details?.clickhouseName
  const unavailable = findUnavailableReason(client, host, ready, error)?.message
  // The server's own message is omitted, because it repeats the statement.
  const summary = code === undefined ? error.message : `host ${host.name}: the query failed (${code} ${String(name)})`
  return { reason: unavailable ?? summary, isPersistent: persistentCodes.has(code), isDenied: code === accessDenied }
}
