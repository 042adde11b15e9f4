import type { Identity } from '#proto/call.ts'
import { mcpCallCancelled } from '#proto/mcp.ts'
import type { Bus } from '#shared/bus/bus.ts'
import type { MessageId } from './message-summary.ts'

/** What identifies a running request of a client. */
export interface ClientRequest {
  identity: Pick<Identity, 'kind' | 'subject'>
  /** The session id of the client, which `initialize` returned. */
  session: string | undefined
  id: MessageId
}

/** The running requests of this process that their clients can cancel with a notification. */
export interface RunningCalls extends AsyncDisposable {
  /** Registers a request until the result is disposed; its signal aborts when the client cancels the request. */
  add(request: ClientRequest): Disposable & { signal: AbortSignal }
  /** Cancels a request in whichever process it runs. */
  cancel(request: ClientRequest): void
}

/**
 * Returns the key of a request; undefined if it cannot be attributed to one client. Anonymous clients choose the same
 * ids, so they need a session.
 */
const keyOf = ({ identity: { kind, subject }, session, id }: ClientRequest): string | undefined =>
  kind === 'anonymous' && session === undefined ? undefined : JSON.stringify([kind, subject, session ?? null, id])

/** Opens the registry. Requests of the session-based protocol are cancelled by a message that any process may receive. */
export const openRunningCalls = async (bus: Pick<Bus, 'emit' | 'on'>): Promise<RunningCalls> => {
  const running = new Map<string, Set<AbortController>>()
  const listening = await bus.on(mcpCallCancelled, ({ key }) => {
    for (const controller of running.get(key) ?? []) controller.abort(new DOMException('cancelled', 'AbortError'))
  })
  return {
    add(request) {
      const key = keyOf(request)
      const controller = new AbortController()
      if (key === undefined) return { signal: controller.signal, [Symbol.dispose]: () => undefined }
      const ofKey = running.get(key) ?? new Set()
      running.set(key, ofKey.add(controller))
      return {
        signal: controller.signal,
        [Symbol.dispose]: () => {
          ofKey.delete(controller)
          if (ofKey.size === 0) running.delete(key)
        },
      }
    },
    cancel(request) {
      const key = keyOf(request)
      if (key !== undefined) bus.emit(mcpCallCancelled, { key })
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  }
}
