import type { CallContext } from '#proto/call.ts'
import type { RuleReading } from '#proto/rules.ts'
import type { Net } from '#shared/net/net.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { readSecondsBehind } from '../history/progress.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type HostProbe, probeHost } from './probe-host.ts'
import { saveSweepState, readSweepState, type SweepStateDeps } from './sweep-state.ts'
import { type Measurement, createMissingMeasurement } from './measurement.ts'
import { measureRules } from './measure.ts'
import type { MeasuredDefinition, MeasuredDefinitions } from './measured-definitions.ts'
import type { MeasurementPlan, PlanInput } from './plan.ts'
import type { ReplicationServiceDeps } from '../repldb/handlers.ts'
import type { RuleFailureRegistry } from './rule-failures.ts'

interface EvaluationDeps extends QueryHandlerDeps, SweepStateDeps, ReplicationServiceDeps {
  net: Net
  troubles: RuleFailureRegistry
  planFor(planning: PlanInput): MeasurementPlan
  measurables: MeasuredDefinitions
}

/** The dependencies of an evaluation, with the host and the result of its probe. */
interface EvaluationContext extends EvaluationDeps {
  host: MonitoredHost
  contact: HostProbe
  call: CallContext
  run(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
}

interface EvaluationRequest {
  hostKey: string
  rules: readonly string[]
  metrics: readonly string[]
}

interface HostEvaluation {
  readings: RuleReading[]
  metrics: RuleReading[]
  uptimeSeconds: number | null
  version: string | null
  statements: number
  tookMs: number
}

/** Measures rules and metrics on one host. An unreachable host yields readings without values instead of an error. */
export const evaluateHost = async (
  place: EvaluationDeps,
  request: EvaluationRequest,
  parentCall: CallContext,
): Promise<HostEvaluation> => {
  const started = performance.now()
  const host = place.hosts.get(request.hostKey)
  const call: CallContext = { ...parentCall, priority: 'sweep' }
  let statements = 0
  const run = (statement: Statement) => {
    statements++
    return place.client.run(host, statement, call)
  }
  const contact = await probeHost(place, host, call)
  const visit = { ...place, host, contact, call, run }
  // A replica of another release may request rules that this one does not have.
  const rules = request.rules.flatMap((id) => place.measurables.rules.get(id) ?? [])
  const metrics = request.metrics.flatMap((id) => place.measurables.metrics.get(id) ?? [])
  const measurements = await measureBySql(visit, [...rules, ...metrics])
  await measureByEvaluators(visit, rules, measurements)
  const reading = (id: string, known: MeasuredDefinition | undefined): RuleReading => {
    const measured =
      (known && measurements.get(known.key)) ?? createMissingMeasurement(`unknown rule or metric "${id}"`)
    return { id, ...measured }
  }
  return {
    readings: request.rules.map((id) => reading(id, place.measurables.rules.get(id))),
    metrics: request.metrics.map((id) => reading(id, place.measurables.metrics.get(id))),
    uptimeSeconds: contact.answers ? contact.uptimeSeconds : null,
    version: contact.answers ? contact.version : null,
    statements,
    tookMs: performance.now() - started,
  }
}

const measureBySql = async (
  visit: EvaluationContext,
  requested: readonly MeasuredDefinition[],
): Promise<Map<string, Measurement>> => {
  const { contact } = visit
  const wanted = requested.flatMap(({ measurable }) => measurable ?? [])
  if (contact.answers) return measureRules(visit, contact.capabilities, wanted)
  return new Map(wanted.map(({ key }) => [key, createMissingMeasurement(contact.reason)]))
}

/** Adds the measurements of evaluators, which also get the ids of rules that failed because of a missing grant. */
const measureByEvaluators = async (
  visit: EvaluationContext,
  requested: readonly MeasuredDefinition[],
  measurements: Map<string, Measurement>,
): Promise<void> => {
  const { store, clock, host, contact, run, net, call, replicationService } = visit
  const wanted = requested.flatMap(({ key, evaluator }) => (evaluator ? [{ key, evaluator }] : []))
  if (wanted.length === 0) return
  const troubles = visit.troubles.of(host)
  const denied = requested.filter(({ key }) => measurements.has(key) && troubles(key)?.isDenied).map(({ id }) => id)
  const earlier = await readSweepState(store, host.key)
  const history = {
    problem: visit.history.problem,
    readSecondsBehind: () => readSecondsBehind(store, host.key, clock.now()),
  }
  const known = { host, contact, earlier, denied, replicationService, history }
  const circumstances = { ...known, run, net, call, signal: call.signal, nowMs: clock.now() }
  const changes = await Promise.all(
    wanted.map(async ({ key, evaluator }) => {
      const { measured, changes } = await evaluator(circumstances)
      measurements.set(key, measured)
      return changes
    }),
  )
  if (earlier) await saveSweepState(store, host.key, Object.assign({}, ...changes))
}
