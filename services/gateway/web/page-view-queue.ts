import type { Logger } from 'pino'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { mostPageViews, type PageView } from '#proto/page-views.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { HostList } from '../hosts/host-list.ts'
import { gatewayItself } from '../auth/identity.ts'

/** Page views on their way to the host that keeps them. */
export interface PageViews extends AsyncDisposable {
  add(view: PageView): void
  /** Hands on what waits; what cannot be kept is lost, which the log says. */
  flush(): Promise<void>
  /** Removes those of one subject and returns how many were kept; the log says where the host does not allow it. */
  forget(actor: string, call: Call): Promise<number>
}

interface Place {
  query: Client<typeof query>
  hosts: HostList
  clock: Clock
  log: Logger
}

/** Rows come together, as a host wants few inserts. */
const flushEveryMs = 10_000
const withinMs = 12_000

/** Keeps page views on the first host of the list. */
export const openPageViews = ({ query, hosts, clock, log }: Place): PageViews => {
  let waiting: PageView[] = []
  const flush = async (): Promise<void> => {
    const views = waiting
    waiting = []
    if (views.length === 0) return
    try {
      const [host] = await hosts.all()
      if (!host) return
      const [deadline, signal] = [clock.elapsedMs() + withinMs, AbortSignal.timeout(withinMs)]
      const call = { identity: gatewayItself, deadline, signal, priority: 'report' } as const
      await query.keepPageViews({ hostKey: host.key, views }, call)
    } catch (error) {
      log.warn({ err: error, views: views.length }, 'page views are lost')
    }
  }
  const timer = setInterval(() => void flush(), flushEveryMs).unref()
  return {
    // Those beyond are lost: nobody opens so many pages within seconds.
    add: (view) => void (waiting.length < mostPageViews && waiting.push(view)),
    flush,
    async forget(actor, call) {
      waiting = waiting.filter((view) => view.actor !== actor)
      const [host] = await hosts.all()
      if (!host) return 0
      try {
        return (await query.removePageViews({ hostKey: host.key, actor }, call)).removed
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'forbidden') throw error
        log.warn({ err: error, host: host.name }, 'page views of a deleted user not removed')
        return 0
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}
