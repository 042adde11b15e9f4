import type { Call } from '#proto/call.ts'
import type { Reading } from '#proto/rules.ts'
import type { Net } from '#shared/net/net.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Parts } from '../parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type Contact, contactWith } from './contact.ts'
import { keepEarlier, readEarlier, type WithStore } from './earlier.ts'
import { type Measured, untold } from './measured.ts'
import { measureAll } from './measure.ts'
import type { Known, Measurables } from './measurables.ts'
import type { Plan, Planning } from './plan.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import type { Troubles } from './troubles.ts'

interface Place extends Parts, WithStore, WithReplicationService {
  net: Net
  troubles: Troubles
  planFor(planning: Planning): Plan
  measurables: Measurables
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
  // A replica of another release may ask for one that is not there.
  const rules = asked.rules.flatMap((id) => place.measurables.rules.get(id) ?? [])
  const metrics = asked.metrics.flatMap((id) => place.measurables.metrics.get(id) ?? [])
  const told = await tellBySql(visit, [...rules, ...metrics])
  await tellByEvaluators(visit, rules, told)
  const reading = (id: string, known: Known | undefined): Reading => {
    const measured = (known && told.get(known.key)) ?? untold(`nothing is known of ${id}`)
    return { id, ...measured }
  }
  return {
    readings: asked.rules.map((id) => reading(id, place.measurables.rules.get(id))),
    metrics: asked.metrics.map((id) => reading(id, place.measurables.metrics.get(id))),
    uptimeSeconds: contact.answers ? contact.uptimeSeconds : null,
    version: contact.answers ? contact.version : null,
    statements,
    tookMs: performance.now() - started,
  }
}

const tellBySql = async (visit: Visit, asked: readonly Known[]): Promise<Map<string, Measured>> => {
  const { contact } = visit
  const wanted = asked.flatMap(({ measurable }) => measurable ?? [])
  if (contact.answers) return measureAll(visit, contact.capabilities, wanted)
  return new Map(wanted.map(({ key }) => [key, untold(contact.reason)]))
}

/** Adds what is no SQL; what a statement could not tell for want of a right is told of here too. */
const tellByEvaluators = async (visit: Visit, asked: readonly Known[], told: Map<string, Measured>): Promise<void> => {
  const { store, clock, host, contact, ask, net, call, replicationService } = visit
  const wanted = asked.flatMap(({ key, evaluator }) => (evaluator ? [{ key, evaluator }] : []))
  if (wanted.length === 0) return
  const troubles = visit.troubles.of(host)
  const denied = asked.filter(({ key }) => told.has(key) && troubles(key)?.isDenied).map(({ id }) => id)
  const earlier = await readEarlier(store, host.key)
  const known = { host, contact, earlier, denied, replicationService }
  const circumstances = { ...known, ask, net, call, signal: call.signal, nowMs: clock.now() }
  const kept = await Promise.all(
    wanted.map(async ({ key, evaluator }) => {
      const { measured, keep } = await evaluator(circumstances)
      told.set(key, measured)
      return keep
    }),
  )
  if (earlier) await keepEarlier(store, host.key, Object.assign({}, ...kept))
}
