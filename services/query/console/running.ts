import type { Call, Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

const retryAfterMs = 1_000

/** Statements of callers that run now, so that there are not too many of them and each can be cancelled by who sent it. */
export interface Running {
  /** Throws `busy` when `most` run on the host, and `conflict` when the caller has a run of this id there. */
  enter(host: MonitoredHost, call: Call, most: number, runId?: string): Run
  /** Whether the caller had such a run. */
  cancel(host: MonitoredHost, identity: Identity, runId: string): boolean
}

/** One of them; disposed when it has ended. */
export interface Run extends Disposable {
  /** Aborts when its caller leaves or cancels it, which is its end too. */
  readonly signal: AbortSignal
}

export const openRunning = (): Running => {
  const hosts = new Map<string, Map<string | symbol, AbortController>>()

  return {
    enter(host, call, most, runId) {
      call.signal.throwIfAborted()
      const runs = hosts.get(host.key) ?? new Map<string | symbol, AbortController>()
      hosts.set(host.key, runs)
      const key = runId === undefined ? Symbol('without an id') : keyOf(call.identity, runId)
      if (runs.has(key)) throw new ServiceError('conflict', `a statement of yours already runs under the id ${runId}`)
      if (runs.size >= most) throw tooMany(host, most)
      const controller = new AbortController()
      const follow = (): void => controller.abort(call.signal.reason)
      const end = (): void => {
        call.signal.removeEventListener('abort', follow)
        runs.delete(key)
      }
      runs.set(key, controller)
      call.signal.addEventListener('abort', follow, { once: true })
      controller.signal.addEventListener('abort', end, { once: true })
      return { signal: controller.signal, [Symbol.dispose]: end }
    },
    cancel(host, identity, runId) {
      const controller = hosts.get(host.key)?.get(keyOf(identity, runId))
      controller?.abort(new ServiceError('gone', 'the statement was cancelled'))
      return controller !== undefined
    },
  }
}

const keyOf = ({ kind, subject }: Identity, runId: string): string => JSON.stringify([kind, subject, runId])

const tooMany = (host: MonitoredHost, most: number): ServiceError =>
  new ServiceError('busy', `${most} statements of callers run on host ${host.name}; try again when one has ended`, {
    details: { host: host.name },
    retryAfterMs,
  })
