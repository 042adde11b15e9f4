import { z } from 'zod'
import { type Call, Identity, Priority } from '#proto/call.ts'
import { maxConnectionsOfCall, SealedConnection } from '#proto/sealed-connection.ts'
import { openRecent } from '../recent.ts'
import type { WireHeaders } from './wire.ts'

/**
 * What travels beside a question's input. The time left is sent, not the deadline, because the clocks of two machines
 * may differ by more than a question takes.
 */
export const questionHeaders = ({ identity, priority, trace, connections }: Call, timeLeftMs: number): WireHeaders => ({
  identity: textOf(identity),
  priority,
  'time-left-ms': String(Math.ceil(timeLeftMs)),
  ...(trace && { traceparent: trace.traceparent }),
  ...(trace?.tracestate && { tracestate: trace.tracestate }),
  ...(connections?.size && { connections: JSON.stringify([...connections.values()]) }),
})

/** Memories of pure functions only: most questions are asked for a few callers. */
const texts = new WeakMap<Identity, string>()
const identities = openRecent<Identity>(256)

const textOf = (identity: Identity): string => {
  const known = texts.get(identity) ?? JSON.stringify(identity)
  texts.set(identity, known)
  return known
}

const identityOf = (text: string): Identity => identities(text, () => Identity.parse(JSON.parse(text)))

const Headers = z.object({
  identity: z.string().transform(identityOf),
  // A newer peer may know more of them.
  priority: Priority.catch('sweep'),
  'time-left-ms': z.coerce.number(),
  traceparent: z.string().optional(),
  tracestate: z.string().optional(),
  connections: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(z.array(SealedConnection).max(maxConnectionsOfCall))
    .optional(),
})

/** The call that a question belongs to, as its handler sees it. Throws when the headers make no sense. */
export const readQuestionHeaders = (headers: WireHeaders, nowMs: number): Omit<Call, 'signal'> => {
  const {
    identity,
    priority,
    traceparent,
    tracestate,
    connections,
    'time-left-ms': timeLeftMs,
  } = Headers.parse(headers)
  return {
    identity,
    priority,
    deadline: nowMs + timeLeftMs,
    trace: traceparent === undefined ? undefined : { traceparent, tracestate },
    ...(connections && { connections: new Map(connections.map((each) => [each.key, each])) }),
  }
}
