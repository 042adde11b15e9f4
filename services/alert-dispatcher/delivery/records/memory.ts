import type { Delivered } from '#proto/delivery.ts'
import { forgetOldest } from '#shared/newest.ts'
import { type Deliveries, isVisible } from './store.ts'

const most = 10_000

/** Deliveries of this process alone, the newest ten thousand; a restart forgets them. */
export const memoryDeliveries = (): Deliveries => {
  const kept = new Map<string, Delivered>()
  const forget = forgetOldest(kept, most)
  return {
    async put(delivered) {
      if (kept.get(delivered.id)?.result === 'sent') return
      kept.delete(delivered.id)
      kept.set(delivered.id, delivered)
      forget()
    },
    async list({ channel, target, episode, result, beforeMs = Infinity, subscriptions, limit }) {
      const wanted = [...kept.values()].filter(
        (delivered) =>
          delivered.atMs < beforeMs &&
          isVisible(delivered, subscriptions) &&
          (channel === undefined || delivered.channel === channel) &&
          (target === undefined || delivered.target === target) &&
          (episode === undefined || delivered.episode === episode) &&
          (result === undefined || delivered.result === result),
      )
      return wanted.toSorted((one, other) => other.atMs - one.atMs).slice(0, limit)
    },
    async toldOf(episode) {
      const told = new Map<string, { channel: string; target: string; sequence: number }>()
      for (const { episode: of, result, channel, target, sequence } of kept.values()) {
        if (of !== episode || result !== 'sent') continue
        const known = told.get(`${channel}:${target}`)
        if (known === undefined || known.sequence < sequence)
          told.set(`${channel}:${target}`, { channel, target, sequence })
      }
      return [...told.values()]
    },
    async prune(beforeMs) {
      const old = [...kept.values()].filter(({ atMs }) => atMs < beforeMs)
      for (const { id } of old) kept.delete(id)
      return old.length
    },
  }
}
