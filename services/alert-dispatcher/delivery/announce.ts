import { hash } from 'node:crypto'
import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HandedOver, notifyMethods } from '#proto/notify.ts'
import type { Notice } from '../notice.ts'
import type { Policy } from '../policy.ts'
import { type Addressed, type Relaying, addressed, chooser, enqueue, mean } from './relay.ts'
import { Ledger, ledgerKey, targetKey } from './ledger.ts'

export type NotifyHandlers = Pick<Handlers<typeof alerts>, keyof typeof notifyMethods>
type Announced = Parameters<NotifyHandlers['notify']>[0]

/** Hands over what another service reports, past floors, digest, maintenance and quiet hours: it is no alert, and wakes nobody. */
export const announce =
  (relaying: Relaying): NotifyHandlers['notify'] =>
  async (announced) => {
    const notice = noticeOf(announced, relaying.clock.now())
    const policy = await relaying.policy()
    const targets = addressed(relaying.targets(policy), notice).filter(({ announces }) => announces)
    const chosen = policy.enabled ? chooser(targets, policy, await relaying.hosts())(notice) : []
    const told = await whoKnows(relaying, notice)
    const missing = chosen.filter(({ key }) => !told.has(key))
    await mean(relaying, notice, missing, true)
    return Promise.all(
      targets.map(async (target): Promise<HandedOver> => {
        const { channel, id, name } = target
        return { channel, target: id, name, ...(await handOver(relaying, notice, target, { policy, told, missing })) }
      }),
    )
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
  { store, deliveries }: Relaying,
  { episode, sequence }: Notice,
): Promise<ReadonlySet<string>> => {
  const ledger = await store.get(ledgerKey(episode), Ledger)
  if (!ledger) return new Set((await deliveries.toldOf(episode)).map(targetKey))
  return new Set(Object.keys(ledger.targets).filter((key) => ledger.targets[key]?.told === sequence))
}

interface Chosen {
  policy: Policy
  told: ReadonlySet<string>
  missing: readonly Addressed[]
}

const handOver = async (
  relaying: Relaying,
  notice: Notice,
  target: Addressed,
  { policy, told, missing }: Chosen,
): Promise<Pick<HandedOver, 'outcome' | 'reason'>> => {
  if (told.has(target.key)) return { outcome: 'told', reason: null }
  if (!policy.enabled) return { outcome: 'held', reason: 'alerts are switched off' }
  if (!missing.includes(target)) return { outcome: 'held', reason: 'routes keep it back' }
  try {
    await enqueue(relaying, target, notice)
    return { outcome: 'queued', reason: null }
  } catch (error) {
    if (error instanceof ServiceError) return { outcome: 'failed', reason: error.message }
    throw error
  }
}
