import type { Logger } from 'pino'
import { z } from 'zod'
import type { Backlog } from '#shared/bus/durable/queue.ts'
import { openOutage } from '#shared/telemetry/outage.ts'
import type { Channel } from '../channels/channel.ts'
import { type Relaying, publishAgain } from './relay.ts'
import { Ledger, ledgerKey, waitingIn } from './ledger.ts'

interface Republishing extends Relaying {
  log: Logger
  channels: readonly Pick<Channel, 'id'>[]
}

/** By channel, since when its queue kept messages when that was last looked up. */
const KeptSince = z.record(z.string().max(40), z.string().max(100))
const keptSinceKey = 'alerts:queues'
const leaseName = 'alerts:republish'
const leaseMs = 60_000
const usuallyEveryMs = 10_000

/**
 * Checks, until disposed, that the queue still holds what targets have yet to take, and publishes again what it has lost. A notice that
 * the queue holds after all comes twice; its ledger then says that its target took it.
 */
export const startRepublishing = (parts: Republishing, everyMs = usuallyEveryMs): AsyncDisposable => {
  const outage = openOutage(parts.log, {
    begins: 'cannot check that the queue holds what is under way',
    ends: 'checks again that the queue holds what is under way',
  })
  let running: Promise<void> | undefined
  const check = async () => {
    // The connection says itself that it is lost.
    if (!parts.queue.connected) return
    try {
      await checkOnce(parts)
      outage.worked()
    } catch (error) {
      outage.failed(error)
    }
  }
  const start = () => {
    running ??= check().finally(() => (running = undefined))
  }
  start()
  const timer = setInterval(start, everyMs).unref()
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}

const checkOnce = async (parts: Republishing): Promise<void> => {
  const { store, queue, waiting, channels, log } = parts
  await using lease = await store.lease(leaseName, leaseMs)
  if (!lease) return
  const looks = channels.map(async ({ id }) => [id, await queue.backlog(id)] as const)
  const backlogs = new Map(await Promise.all(looks))
  const before = (await store.get(keptSinceKey, KeptSince)) ?? {}
  const lost = new Set([...backlogs].filter(([id, { keptSince }]) => isOther(before[id], keptSince)).map(([id]) => id))
  let notices = 0
  await waiting.examine(lost.size > 0 ? 'all' : 'due', async (episode, isDue) => {
    const ledger = await store.get(ledgerKey(episode), Ledger)
    if (!ledger?.notice) return false
    const keys = waitingIn(ledger)
    const missing = keys.filter((key) => {
      const channel = key.slice(0, key.indexOf(':'))
      return lost.has(channel) || (isDue && isDrained(backlogs.get(channel)))
    })
    if (missing.length > 0) notices += await publishAgain(parts, ledger.notice, new Set(missing))
    return keys.length > 0
  })
  if (notices > 0) log.warn({ notices, channels: [...lost] }, 'queue lost notifications; they are published again')
  const after = Object.fromEntries([...backlogs].map(([id, { keptSince }]) => [id, keptSince]))
  if (JSON.stringify(after) !== JSON.stringify(before))
    await store.update(keptSinceKey, KeptSince, () => ({ value: after }), lease.fence)
}

const isOther = (before: string | undefined, now: string): boolean => before !== undefined && before !== now

const isDrained = (backlog: Backlog | undefined): boolean => backlog?.waiting === 0
