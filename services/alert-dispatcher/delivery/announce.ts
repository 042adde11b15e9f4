import { hash } from 'node:crypto'
import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HandedOver, notifyMethods } from '#proto/notify.ts'
import { instant } from '#shared/time/clock.ts'
import { type Notice, addressedTopic, deliveryIdOf } from '../notice.ts'
import type { Policy } from '../policy.ts'
import type { Delivering } from './delivering.ts'
import { type KeyedTarget, chooser, keyedTargets } from './recipients.ts'
import { DeliveryRecord, open, recordKey, recordMs, targetKey } from './record.ts'

export type NotifyHandlers = Pick<Handlers<typeof alerts>, keyof typeof notifyMethods>
type Announced = Parameters<NotifyHandlers['notify']>[0]

type Announcing = Pick<Delivering, 'store' | 'deliveries' | 'clock' | 'policy' | 'targets' | 'hosts'>

/** Hands over what another service reports, past floors, digest, maintenance and quiet hours: it is no alert, and wakes nobody. */
export const announce =
  (announcing: Announcing): NotifyHandlers['notify'] =>
  async (announced) => {
    const notice = noticeOf(announced, announcing.clock.now())
    const policy = await announcing.policy()
    const targets = keyedTargets(announcing.targets(policy), notice).filter(({ announces }) => announces)
    const chosen = policy.enabled ? chooser(targets, policy, await announcing.hosts())(notice) : []
    const told = await whoKnows(announcing, notice)
    const missing = chosen.filter(({ key }) => !told.has(key))
    const failure = await append(announcing, notice, missing)
    return targets.map((target): HandedOver => {
      const { channel, id, name } = target
      return { channel, target: id, name, ...outcomeOf(target, { policy, told, missing, failure }) }
    })
  }

const noticeOf = (announced: Announced, atMs: number): Notice => {
  const { topic, key, title, severity, hostKey, text, facts, path } = announced
  // Keys may hold what no subject and no header may.
  const episode = `notify:${topic}:${hash('sha256', key).slice(0, 32)}`
  return {
    id: `${episode}:0`,
    kind: 'notify',
    episode,
    sequence: 0,
    hostKey,
    source: null,
    ruleId: topic,
    title,
    severity,
    value: null,
    threshold: null,
    unit: 'none',
    offenders: [],
    runbook: '',
    sinceMs: atMs,
    atMs,
    reason: '',
    gathered: [],
    announced: { text, facts, path },
  }
}

/** By key, the targets that took it before; read from the record of deliveries where the store has forgotten. */
const whoKnows = async (
  { store, deliveries }: Announcing,
  { episode, sequence }: Notice,
): Promise<ReadonlySet<string>> => {
  const record = await store.get(recordKey(episode), DeliveryRecord)
  if (!record) return new Set((await deliveries.toldOf(episode)).map(targetKey))
  return new Set(Object.keys(record.recipients).filter((key) => record.recipients[key]?.taken.includes(sequence)))
}

/** Puts the notice into the outbox for each of the targets. Returns why it could not. */
const append = async (
  { store, clock }: Announcing,
  notice: Notice,
  missing: readonly KeyedTarget[],
): Promise<string | undefined> => {
  if (missing.length === 0) return undefined
  const opening = { keys: missing.map(({ key }) => key), isWhole: false, nowMs: instant(clock) }
  const outbox = missing.map(({ channel, id: target }) => {
    const payload = { notice, channel, target }
    return { id: deliveryIdOf(payload), topic: addressedTopic, payload }
  })
  try {
    await store.update(recordKey(notice.episode), DeliveryRecord, (before) => ({
      value: open(before, notice, opening),
      expiresInMs: recordMs,
      outbox,
    }))
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

interface Appended {
  policy: Policy
  told: ReadonlySet<string>
  missing: readonly KeyedTarget[]
  failure: string | undefined
}

const outcomeOf = (
  target: KeyedTarget,
  { policy, told, missing, failure }: Appended,
): Pick<HandedOver, 'outcome' | 'reason'> => {
  if (told.has(target.key)) return { outcome: 'told', reason: null }
  if (!policy.enabled) return { outcome: 'held', reason: 'alerts are switched off' }
  if (!missing.includes(target)) return { outcome: 'held', reason: 'routes keep it back' }
  return failure === undefined ? { outcome: 'queued', reason: null } : { outcome: 'failed', reason: failure }
}
