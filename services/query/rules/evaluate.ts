import type { Call } from '#proto/call.ts'
import type { Reading } from '#proto/rules.ts'
import type { Net } from '#shared/net/net.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Parts } from '../handlers/parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type Contact, contactWith } from './contact.ts'
import { keepEarlier, readEarlier, type WithStore } from './earlier.ts'
import { evaluators } from './evaluators/index.ts'
import { measureAll } from './measure.ts'
import { type Measured, untold } from './measured.ts'
import type { Measurable, Plan, Planning } from './plan.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import type { Troubles } from './troubles.ts'

interface Place extends Parts, WithStore, WithReplicationService {
  net: Net
  troubles: Troubles
  planFor(planning: Planning): Plan
  /** All rules with a statement, and all metrics, by their keys. */
  measurables: ReadonlyMap<string, Measurable>
}

/** A visit to one host. */
interface Visit extends Place {
  host: MonitoredHost
  contact: Contact
  call: Call
  ask(statement: Statement): Promise<{ rows: readonly (readonly unknown[])[] }>
}

interface Asked {
  hostKey: string
  rules: readonly string[]
  metrics: readonly string[]
}

interface Evaluated {
  readings: Reading[]
  metrics: Reading[]
  uptimeSeconds: number | null
  version: string | null
  statements: number
  tookMs: number
}

/** Measures rules and metrics on one host. A host that does not answer fails nothing: that is a reading too. */
export const evaluate = async (place: Place, asked: Asked, given: Call): Promise<Evaluated> => {
  const started = performance.now()
  const host = place.hosts.get(asked.hostKey)
  const call: Call = { ...given, priority: 'sweep' }
  let statements = 0
  const ask = (statement: Statement) => {
    statements++
    return place.client.run(host, statement, call)
  }
  const contact = await contactWith(place, host, call)
  const visit = { ...place, host, contact, call, ask }
  const told = await tellBySql(visit, asked)
  const found = await tellByEvaluators(visit, asked.rules, told)
  const reading = (id: string, key: string): Reading => {
    return { id, ...(found.get(key) ?? told.get(key) ?? untold(`nothing is known of ${id}`)) }
  }
  return {
    readings: asked.rules.map((id) => reading(id, ruleKey(id))),
    metrics: asked.metrics.map((id) => reading(id, metricKey(id))),
    uptimeSeconds: contact.answers ? contact.uptimeSeconds : null,
    version: contact.answers ? contact.version : null,
    statements,
    tookMs: performance.now() - started,
  }
}

const ruleKey = (id: string): string => `rule/${id}`
const metricKey = (id: string): string => `metric/${id}`

/** What statements measure, by the keys of rules and metrics, which may have the same id. */
export const measurablesOf = ({ rules, metrics }: Pick<Definitions, 'rules' | 'metrics'>): Map<string, Measurable> => {
  const ofRules = rules.flatMap(({ sql, ...rule }) =>
    sql === undefined ? [] : [{ ...rule, sql, key: ruleKey(rule.name) }],
  )
  const ofMetrics = metrics.map((metric): Measurable => ({
    ...metric,
    key: metricKey(metric.name),
    columns: ['measured'],
    alone: false,
  }))
  return new Map([...ofRules, ...ofMetrics].map((each) => [each.key, each]))
}

const tellBySql = async (visit: Visit, { rules, metrics }: Asked): Promise<Map<string, Measured>> => {
  const { contact, measurables } = visit
  // A replica of another release may ask for one that is not there.
  const wanted = [...rules.map(ruleKey), ...metrics.map(metricKey)].flatMap((key) => measurables.get(key) ?? [])
  if (contact.answers) return measureAll(visit, contact.capabilities, wanted)
  return new Map(wanted.map(({ key }) => [key, untold(contact.reason)]))
}

const tellByEvaluators = async (
  visit: Visit,
  asked: readonly string[],
  told: ReadonlyMap<string, Measured>,
): Promise<Map<string, Measured>> => {
  const { store, clock, host, contact, ask, net, call, replicationService } = visit
  const isAsked = new Set(asked)
  const wanted = visit.definitions.rules.flatMap(({ name, evaluator: by }) => {
    const evaluator = by === undefined ? undefined : evaluators[by]
    return evaluator && isAsked.has(name) ? [{ name, evaluator }] : []
  })
  if (wanted.length === 0) return new Map()
  const denied = asked.filter((name) => told.has(ruleKey(name)) && visit.troubles.of(host, ruleKey(name))?.isDenied)
  const earlier = await readEarlier(store, host.key)
  const known = { host, contact, earlier, denied, replicationService }
  const circumstances = { ...known, ask, net, call, signal: call.signal, nowMs: clock.now() }
  const all = await Promise.all(
    wanted.map(async ({ name, evaluator }) => {
      const { measured, keep = {} } = await evaluator(circumstances)
      return { key: ruleKey(name), measured, keep }
    }),
  )
  if (earlier) await keepEarlier(store, host.key, Object.assign({}, ...all.map(({ keep }) => keep)))
  return new Map(all.map(({ key, measured }) => [key, measured]))
}
