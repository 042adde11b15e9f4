import { randomUUID } from 'node:crypto'
import type { CallContext, Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** The running and waiting statements of callers. Callers can cancel only their own statements. */
export interface RunRegistry {
  /** Registers a run of the caller. Throws `conflict` when the caller already uses this run id. */
  enter(host: MonitoredHost, call: CallContext, runId?: string): ConsoleRun
  /** Returns the statement id of a run of the caller; undefined if the caller has no run with this id. */
  findStatementId(host: MonitoredHost, identity: Identity, runId: string): string | undefined
  /** Cancels a run of the caller. Returns whether the caller has a run with this id. */
  cancel(host: MonitoredHost, identity: Identity, runId: string): boolean
}

/** A running statement; disposed when it has ended. */
export interface ConsoleRun extends Disposable {
  /** The unique id of its statement. */
  readonly statementId: string
  /** Aborts when the caller leaves or cancels the run. */
  readonly signal: AbortSignal
}

interface RunningStatement {
  controller: AbortController
  statementId: string
}

export const openRunRegistry = (): RunRegistry => {
  const hosts = new Map<string, Map<string | symbol, RunningStatement>>()

  return {
    enter(host, call, runId) {
      call.signal.throwIfAborted()
      const runs = hosts.get(host.key) ?? new Map<string | symbol, RunningStatement>()
      hosts.set(host.key, runs)
      const key = runId === undefined ? Symbol('without an id') : keyOf(call.identity, runId)
      if (runs.has(key)) throw new ServiceError('conflict', `you already have a query running with ID "${runId}"`)
      const controller = new AbortController()
      const statementId = randomUUID()
      const follow = (): void => controller.abort(call.signal.reason)
      const end = (): void => {
        call.signal.removeEventListener('abort', follow)
        runs.delete(key)
      }
      runs.set(key, { controller, statementId })
      call.signal.addEventListener('abort', follow, { once: true })
      controller.signal.addEventListener('abort', end, { once: true })
      return { signal: controller.signal, statementId, [Symbol.dispose]: end }
    },
    findStatementId: (host, identity, runId) => hosts.get(host.key)?.get(keyOf(identity, runId))?.statementId,
    cancel(host, identity, runId) {
      const run = hosts.get(host.key)?.get(keyOf(identity, runId))
      run?.controller.abort(new ServiceError('gone', 'the query was cancelled'))
      return run !== undefined
    },
  }
}

const keyOf = ({ kind, subject }: Identity, runId: string): string => JSON.stringify([kind, subject, runId])
