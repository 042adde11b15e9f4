import { z } from 'zod'
import { type Call, Identity, Priority } from '#proto/call.ts'
import { maxConnectionsOfCall, SealedConnection } from '#proto/sealed-connection.ts'
import type { WireHeaders } from './wire.ts'

/**
 * What travels beside a question's input. The time left is sent, not the deadline, because the clocks of two machines
 * may differ by more than a question takes.
 */
export const questionHeaders = ({ identity, priority, trace, connections }: Call, timeLeftMs: number): WireHeaders => ({
  identity: JSON.stringify(identity),
  priority,
  'time-left-ms': String(Math.ceil(timeLeftMs)),
  ...(trace && { traceparent: trace.traceparent }),
  ...(trace?.tracestate && { tracestate: trace.tracestate }),
  ...(connections?.size && { connections: JSON.stringify([...connections.values()]) }),
})

const Headers = z.object({
  identity: z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(Identity),
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
