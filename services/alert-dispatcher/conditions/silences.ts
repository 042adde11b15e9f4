import type { Silence } from '#proto/alert-history.ts'
import { ServiceError } from '#proto/errors.ts'
import { noSuch } from '#shared/no-such.ts'
import { type Condition, HostRecord, hostRecordKey } from './condition.ts'
import { requireLasting } from '../require-lasting.ts'
import { silenced } from './silenced.ts'
import type { Alerting, AlertingHandlers } from '../alerting.ts'

const minuteMs = 60_000

export const silences =
  (alerting: Alerting): AlertingHandlers['silences'] =>
  () =>
    holding(alerting)

/** What has been said to conditions and whose time is not over. */
export const holding = async ({ stores, clock }: Pick<Alerting, 'stores' | 'clock'>): Promise<Silence[]> => {
  const nowMs = clock.now()
  return (await stores.silences.list()).filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
}

/** Writes it where it lasts first: the sweep brings from there what did not get into the condition. */
export const silence =
  (alerting: Alerting): AlertingHandlers['silence'] =>
  async ({ kind, hostKey, ruleId, episode, minutes, note }, { identity }) => {
    const { stores, clock } = alerting
    if (kind === 'ack') requireLasting(stores, 'acknowledging')
    const condition = await conditionOf(alerting, hostKey, ruleId)
    if (episode !== undefined && episode !== condition.episode) {
      throw new ServiceError('conflict', 'this episode is over; the condition has come back since', {
        details: { parameter: 'episode', episode: condition.episode },
      })
    }
    const of = { episode: condition.episode, hostKey, ruleId }
    const said = silenceOf({ kind, minutes, note }, of, { by: identity.subject, atMs: clock.now() })
    await stores.silences.put(said)
    await tellCondition(alerting, said, said)
    return said
  }

interface Wanted extends Pick<Silence, 'kind' | 'note'> {
  /** Null holds until the recovery. */
  minutes: number | null
}

/** What somebody says to an episode from now on. */
export const silenceOf = (
  { kind, note, minutes }: Wanted,
  of: Pick<Silence, 'episode' | 'hostKey' | 'ruleId'>,
  { by, atMs }: Pick<Silence, 'by' | 'atMs'>,
): Silence => ({ kind, note, ...of, by, atMs, untilMs: minutes === null ? null : atMs + minutes * minuteMs })

export const unsilence =
  (alerting: Alerting): AlertingHandlers['unsilence'] =>
  async ({ kind, hostKey, ruleId }) => {
    const { stores } = alerting
    if (kind === 'ack') requireLasting(stores, 'acknowledging')
    const known = (await stores.silences.list()).filter((each) => each.kind === kind && each.hostKey === hostKey)
    const said = known.findLast((each) => each.ruleId === ruleId)
    if (!said) throw noSuch(nouns[kind], ruleId, new Set(known.map((each) => each.ruleId)), 'ruleId')
    await stores.silences.remove(kind, said.episode)
    await tellCondition(alerting, said, null)
    return said
  }

const nouns = { ack: 'acknowledgement', dismissal: 'dismissal' } as const

const conditionOf = async ({ store }: Alerting, hostKey: string, ruleId: string): Promise<Condition> => {
  const { conditions = {} } = (await store.get(hostRecordKey(hostKey), HostRecord)) ?? {}
  // A caller may name what every object has, such as `constructor`.
  const condition = Object.hasOwn(conditions, ruleId) ? conditions[ruleId] : undefined
  if (!condition) throw noSuch('condition that is not ok', ruleId, Object.keys(conditions), 'ruleId')
  return condition
}

const tellCondition = async ({ store }: Alerting, said: Silence, silence: Silence | null): Promise<void> => {
  if (said.hostKey === null) return
  await store.update(hostRecordKey(said.hostKey), HostRecord, (before) => ({
    value: before && silenced(before, said, silence),
  }))
}
