import type { Call } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'

const hostsAtOnce = 4
const perHostMs = 5 * 60_000

/** Does something with every item, a few at a time; what fails ends it all. */
export const hostByHost = async <T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> => {
  // All workers take from the same iterator.
  const waiting = items.values()
  const work = async (): Promise<void> => {
    for (const item of waiting) await each(item)
  }
  await Promise.all(Array.from({ length: hostsAtOnce }, work))
}

/** A question about one host that nobody waits for; it may see everything of the hosts that the operator listed. */
export const ownCall = ({ clock }: { clock: Clock }, signal: AbortSignal): Call => ({
  identity: { kind: 'service', subject: 'report', features: 'all' },
  deadline: clock.elapsedMs() + perHostMs,
  signal,
  priority: 'report',
})
