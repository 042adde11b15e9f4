import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { type Call, Identity, Priority } from '#proto/call.ts'
import { maxConnectionsOfCall, SealedConnection } from '#proto/sealed-connection.ts'
import type { WireHeaders } from './wire.ts'

/**
 * What travels beside a question's input. The time left is sent, not the deadline, because the clocks of two machines
 * may differ by more than a question takes.
 */
export const questionHeaders = (
  { identity, priority, trace, connections, signature }: Call,
  timeLeftMs: number,
): WireHeaders => ({
  identity: textOf(identity),
  priority,
  'time-left-ms': String(Math.ceil(timeLeftMs)),
  ...(signature !== undefined && { delegation: signature }),
  ...(trace && { traceparent: trace.traceparent }),
  ...(trace?.tracestate && { tracestate: trace.tracestate }),
  ...(connections?.size && { connections: JSON.stringify([...connections.values()]) }),
})

/** Memories of pure functions only: most questions are asked for a few callers. */
const texts = new WeakMap<Identity, string>()

const textOf = (identity: Identity): string => {
  const known = texts.get(identity) ?? JSON.stringify(identity)
  texts.set(identity, known)
  return known
}

const identities = new LRUCache<string, Identity>({
  max: 256,
  memoMethod: (text) => {
    const identity = Identity.parse(JSON.parse(text))
    // The text is what is signed, so a service that passes the identity on must send the same.
    texts.set(identity, text)
    return identity
  },
})

const Connections = z.array(SealedConnection).max(maxConnectionsOfCall)

/** The call that a question belongs to, as its handler sees it. Throws when the headers make no sense. */
export const readQuestionHeaders = (headers: WireHeaders, nowMs: number): Omit<Call, 'signal'> => {
  const { identity, priority, traceparent, tracestate, connections, signature } = headers
  const timeLeftMs = Number(headers['time-left-ms'])
  if (identity === undefined || !Number.isFinite(timeLeftMs)) throw new Error('who asks, or until when, is missing')
  return {
    identity: identities.memo(identity),
    // A newer peer may know more of them.
    priority: Priority.options.find((known) => known === priority) ?? 'sweep',
    deadline: nowMs + timeLeftMs,
    trace: traceparent === undefined ? undefined : { traceparent, tracestate },
    // What the gateway signed comes as a delegation, unless the gateway itself asks.
    ...(signature !== undefined && { signature: headers.delegation ?? signature }),
    ...(connections && { connections: connectionsOf(connections) }),
  }
}

const connectionsOf = (text: string): Map<string, SealedConnection> =>
  new Map(Connections.parse(JSON.parse(text)).map((each) => [each.key, each]))
