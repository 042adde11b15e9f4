import type { Logger } from 'pino'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { maxPageViews, type PageView } from '#proto/page-views.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { HostList } from '../hosts/host-list.ts'
import { gatewayIdentity } from '../auth/identity.ts'

/** A queue of page views for the host that stores them. */
export interface PageViewQueue extends AsyncDisposable {
  add(view: PageView): void
  /** Sends the queued page views. Those that cannot be stored are lost, and a warning is logged. */
  flush(): Promise<void>
  /** Removes the page views of a user and returns the number of stored ones; logs a warning if the host forbids it. */
  forget(actor: string, call: CallContext): Promise<number>
}

interface PageViewDeps {
  query: ServiceClient<typeof query>
  hosts: HostList
  clock: Clock
  log: Logger
}

/** Interval of batch inserts, because ClickHouse works best with few large inserts. */
const flushEveryMs = 10_000
const timeoutMs = 12_000

/** Opens a queue that stores page views on the first host of the list. */
export const openPageViewQueue = ({ query, hosts, clock, log }: PageViewDeps): PageViewQueue => {
  let waiting: PageView[] = []
  const flush = async (): Promise<void> => {
    const views = waiting
    waiting = []
    if (views.length === 0) return
    try {
      const [host] = await hosts.all()
      if (!host) return
      const [deadline, signal] = [clock.elapsedMs() + timeoutMs, AbortSignal.timeout(timeoutMs)]
      const call = { identity: gatewayIdentity, deadline, signal, priority: 'report' } as const
      await query.storePageViews({ hostKey: host.key, views }, call)
    } catch (error) {
      log.warn({ err: error, views: views.length }, 'page views lost')
    }
  }
  const timer = setInterval(() => void flush(), flushEveryMs).unref()
  return {
    // Page views beyond the maximum are dropped; users do not open that many pages within seconds.
    add: (view) => void (waiting.length < maxPageViews && waiting.push(view)),
    flush,
    async forget(actor, call) {
      waiting = waiting.filter((view) => view.actor !== actor)
      const [host] = await hosts.all()
      if (!host) return 0
      try {
        return (await query.removePageViews({ hostKey: host.key, actor }, call)).removed
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'forbidden') throw error
        log.warn({ err: error, host: host.name }, 'deleting page views of a deleted user failed')
        return 0
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}
