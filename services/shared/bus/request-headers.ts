import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { type CallContext, Identity, RequestPriority } from '#proto/call.ts'
import { maxConnectionsPerCall, SealedConnection } from '#proto/sealed-connection.ts'
import type { WireHeaders } from './wire.ts'

/**
 * Returns the headers of a request. They contain the remaining time instead of the deadline, because the clocks of two
 * machines may differ by more than the duration of a request.
 */
export const createRequestHeaders = (
  { identity, priority, trace, connections, signature }: CallContext,
  timeLeftMs: number,
): WireHeaders => ({
  identity: encodeIdentity(identity),
  priority,
  'time-left-ms': String(Math.ceil(timeLeftMs)),
  ...(signature !== undefined && { delegation: signature }),
  ...(trace && { traceparent: trace.traceparent }),
  ...(trace?.tracestate && { tracestate: trace.tracestate }),
  ...(connections?.size && { connections: JSON.stringify([...connections.values()]) }),
})

/** Cache of encoded identities; most requests come from few callers. */
const identityTexts = new WeakMap<Identity, string>()

const encodeIdentity = (identity: Identity): string => {
  const known = identityTexts.get(identity) ?? JSON.stringify(identity)
  identityTexts.set(identity, known)
  return known
}

const identities = new LRUCache<string, Identity>({
  max: 256,
  memoMethod: (text) => {
    const identity = Identity.parse(JSON.parse(text))
    // The text is signed, so a service that forwards the identity must send the same text.
    identityTexts.set(identity, text)
    return identity
  },
})

const Connections = z.array(SealedConnection).max(maxConnectionsPerCall)

/** Parses the headers of a request into the call that its handler receives; throws if they are invalid. */
export const readRequestHeaders = (headers: WireHeaders, nowMs: number): Omit<CallContext, 'signal'> => {
  const { identity, priority, traceparent, tracestate, connections, signature } = headers
  const timeLeftMs = Number(headers['time-left-ms'])
  if (identity === undefined || !Number.isFinite(timeLeftMs))
    throw new Error('missing header: identity or time-left-ms')
  return {
    identity: identities.memo(identity),
    // An unknown priority, of a newer release, counts as `sweep`.
    priority: RequestPriority.options.find((known) => known === priority) ?? 'sweep',
    deadline: nowMs + timeLeftMs,
    trace: traceparent === undefined ? undefined : { traceparent, tracestate },
    // The call carries the signature of the gateway: the delegation, or the signature of a request that the gateway
    // itself sent.
    ...(signature !== undefined && { signature: headers.delegation ?? signature }),
    ...(connections && { connections: parseConnections(connections) }),
  }
}

const parseConnections = (text: string): Map<string, SealedConnection> =>
  new Map(Connections.parse(JSON.parse(text)).map((each) => [each.key, each]))
