import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'

/** What the handlers work with. */
export interface Parts {
  env: Environment
  clock: Clock
  query: Client<typeof query>
}

/** Work that goes on when its caller leaves; disposing asks what runs to end, and waits for it. */
export interface Work extends AsyncDisposable {
  run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export const openWork = (): Work => {
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    run(task) {
      const work = task(stop.signal)
      const ended: Promise<unknown> = work.then(
        () => running.delete(ended),
        () => running.delete(ended),
      )
      running.add(ended)
      return work
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new ServiceError('unavailable', 'this process is stopping'))
      await Promise.all(running)
    },
  }
}

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
