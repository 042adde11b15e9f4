import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { RuleReading } from '#proto/rules.ts'
import { shortenText } from '#shared/text/strings.ts'
import { HostRecord, adjustHostRecord, getHostRecordKey } from '../conditions/condition.ts'
import { type HostSweepDecision, evaluateHostSweep } from '../conditions/evaluate-host-sweep.ts'
import { summarizeHost, type HostSummary } from '../conditions/fleet-record.ts'
import type { HostMeasurements } from '../conditions/evaluate.ts'
import type { MonitoredRule } from '../conditions/monitored-rules.ts'
import { toOutboxMessage } from '../notification.ts'
import { type DispatcherDeps, createServiceCall } from '../dispatcher-deps.ts'
import type { Policy } from '../policy.ts'
import type { SweepLease } from '../sweep-lease.ts'

/** Timeout for measuring a host: enough for a probe of 2 s and three rounds of statements at their time limit. */
const measureTimeoutMs = 45_000
/** Timeout for the statements of SQL rules on a host, which start within 10 s and take at most as long. */
const statementsTimeoutMs = 25_000

/** Reads only the condition ids of a host record, because the whole record is large. */
const KnownConditions = z.object({ conditions: z.record(z.string(), z.unknown()) })

/** Shared state of one sweep. */
export interface SweepContext {
  lease: SweepLease
  policy: Policy
  watched: readonly MonitoredRule[]
  /** Number of earlier sweeps. */
  number: number
  failedHosts: FailedHosts
  /** Returns whether the host may have conditions, according to its summary. */
  mayHaveConditions(hostKey: string): boolean
  nowMs: number
}

export interface HostSweepResult {
  decision: HostSweepDecision
  summary: HostSummary
}

/** Measures one host, and stores the decision and its notifications in one write. */
export const sweepHost = async (
  parts: DispatcherDeps,
  hostKey: string,
  context: SweepContext,
): Promise<HostSweepResult> => {
  const { watched, number, mayHaveConditions } = context
  const isDue = ({ everySweeps }: MonitoredRule) => number % everySweeps === 0
  const needsConditions = !watched.every(isDue) && mayHaveConditions(hostKey)
  const known = needsConditions ? await parts.store.get(getHostRecordKey(hostKey), KnownConditions) : undefined
  const dueRules = watched.filter((rule) => isDue(rule) || known?.conditions[rule.id])
  const measured = await measureHost(parts, hostKey, dueRules, context)
  const decision = await storeDecision(parts, hostKey, context, { watched, dueRules, measured })
  return { decision, summary: summarizeHost(decision.record, measured.uptimeSeconds === null) }
}

/** Closes the conditions of a host that is no longer listed. Its record is deleted once no recovery is held. */
export const sweepUnlistedHost = async (
  parts: DispatcherDeps,
  hostKey: string,
  context: SweepContext,
): Promise<HostSweepResult> => {
  const decision = await storeDecision(parts, hostKey, context, {
    watched: [],
    dueRules: [],
    measured: emptyMeasurements,
  })
  return { decision, summary: summarizeHost(decision.record, false) }
}

const emptyMeasurements: HostMeasurements = { readings: new Map(), metrics: new Map(), uptimeSeconds: null }

const storeDecision = async (
  { store, clock, observe }: DispatcherDeps,
  hostKey: string,
  { lease, policy, nowMs }: SweepContext,
  what: Pick<Parameters<typeof evaluateHostSweep>[1], 'watched' | 'dueRules' | 'measured'>,
): Promise<HostSweepDecision> => {
  let decision: HostSweepDecision | undefined
  await store.update(
    getHostRecordKey(hostKey),
    HostRecord,
    (before) => {
      decision = evaluateHostSweep(before && adjustHostRecord(before, clock), {
        ...what,
        hostKey,
        policy,
        nowMs,
        newEpisode: randomUUID,
      })
      const isEmpty = what.watched.length === 0 && Object.keys(decision.record.conditions).length === 0
      return { value: isEmpty ? undefined : decision.record, outbox: decision.notifications.map(toOutboxMessage) }
    },
    lease.fence,
  )
  if (!decision) throw new Error('store update failed: its callback was not called')
  observe.notified(decision)
  return decision
}

/** Measures the rules of one host. On failure they have no data, and their conditions stay unchanged. */
const measureHost = async (
  parts: DispatcherDeps,
  hostKey: string,
  dueRules: readonly MonitoredRule[],
  { lease: { signal }, failedHosts }: SweepContext,
): Promise<HostMeasurements> => {
  const measured = dueRules.filter(({ allOf }) => allOf.length === 0)
  const rules = measured.flatMap(({ id, metric, sql }) => (metric === null && sql === null ? [id] : []))
  const metrics = [...new Set(measured.flatMap(({ metric }) => metric ?? []))]
  try {
    const call = createServiceCall(parts, measureTimeoutMs, signal)
    const response = await parts.query.evaluateRules({ hostKey, rules, metrics }, call)
    const { uptimeSeconds } = response
    const own = await measureSqlRules(parts, hostKey, measured, { signal, isUp: uptimeSeconds !== null })
    return { readings: byId([...response.readings, ...own]), metrics: byId(response.metrics), uptimeSeconds }
  } catch (error) {
    signal.throwIfAborted()
    const reason = error instanceof ServiceError ? shortenText(error.message, 300) : 'measurement failed'
    failedHosts.add('measured', hostKey, error)
    const none = (id: string): RuleReading => ({ ...emptyReading, id, reason })
    const ids = measured.flatMap(({ id, metric }) => (metric === null ? [id] : []))
    return { readings: byId(ids.map(none)), metrics: byId(metrics.map(none)), uptimeSeconds: null }
  }
}

/**
 * Measures the SQL rules of one host, after all others and with their own timeout, so that slow statements of operators
 * do not affect built-in rules.
 */
const measureSqlRules = async (
  parts: DispatcherDeps,
  hostKey: string,
  rules: readonly MonitoredRule[],
  { signal, isUp }: { signal: AbortSignal; isUp: boolean },
): Promise<RuleReading[]> => {
  const statements = rules.flatMap(({ id, sql }) => (sql === null ? [] : [{ id, sql }]))
  const without = (reason: string) => statements.map(({ id }): RuleReading => ({ ...emptyReading, id, reason }))
  if (statements.length === 0) return []
  if (!isUp) return without('the host is unreachable')
  try {
    const call = createServiceCall(parts, statementsTimeoutMs, signal)
    return (await parts.query.measureStatements({ hostKey, statements }, call)).readings
  } catch (error) {
    signal.throwIfAborted()
    return without(error instanceof ServiceError ? shortenText(error.message, 300) : 'measurement failed')
  }
}

const emptyReading = { value: null, incomplete: null, samples: null, warning: null, critical: null, offenders: [] }

const byId = (readings: readonly RuleReading[]): ReadonlyMap<string, RuleReading> =>
  new Map(readings.map((reading) => [reading.id, reading]))

/** Maximum number of hosts that a log line names. */
const maxNamedHosts = 10

/** Hosts that a sweep could not measure or process. */
interface FailedHosts {
  add(what: 'measured' | 'swept', hostKey: string, error: unknown): void
  /** Returns whether every host was processed; hosts that could not be measured count as processed. */
  areAllDecided(): boolean
  /** Logs one line per cause, because the same cause usually affects many hosts. */
  logAll(): void
}

export const createFailedHosts = (log: Logger): FailedHosts => {
  const causes = new Map<string, { what: string; error: unknown; hosts: string[] }>()
  return {
    add(what, hostKey, error) {
      const cause = `${what} ${String(error)}`
      const known = causes.get(cause) ?? { what, error, hosts: [] }
      known.hosts.push(hostKey)
      causes.set(cause, known)
    },
    areAllDecided: () => [...causes.values()].every(({ what }) => what !== 'swept'),
    logAll() {
      for (const { what, error, hosts } of causes.values()) {
        const facts = { err: error, hosts: hosts.length, named: hosts.slice(0, maxNamedHosts) }
        // Hosts that cannot be measured are expected and shown as no data. Hosts that cannot be processed are an error.
        log[what === 'swept' ? 'error' : 'warn'](facts, `hosts not ${what}`)
      }
    },
  }
}
