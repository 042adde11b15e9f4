import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'

/** The dependencies of all handlers. */
export interface ReportServiceDeps {
  env: Environment
  clock: Clock
  query: ServiceClient<typeof query>
}

/** Runs tasks that may outlive their caller. Disposal aborts the running tasks and waits for them. */
export interface BackgroundTasks extends AsyncDisposable {
  run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export const openBackgroundTasks = (): BackgroundTasks => {
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
      stop.abort(new ServiceError('unavailable', 'the report process is stopping; try again'))
      await Promise.all(running)
    },
  }
}

const maxConcurrentHosts = 4
const hostTimeoutMs = 5 * 60_000

/** Calls `each` for every item, for at most `maxConcurrentHosts` at a time. Rejects with the first error. */
export const forEachHost = async <T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> => {
  // All workers take items from the same iterator.
  const queue = items.values()
  const work = async (): Promise<void> => {
    for (const item of queue) await each(item)
  }
  await Promise.all(Array.from({ length: maxConcurrentHosts }, work))
}

/** Returns the call context for background work on one host. The identity has access to every configured host. */
export const createServiceCall = ({ clock }: { clock: Clock }, signal: AbortSignal): CallContext => ({
  identity: { kind: 'service', subject: 'report', features: 'all' },
  deadline: clock.elapsedMs() + hostTimeoutMs,
  signal,
  priority: 'report',
})
