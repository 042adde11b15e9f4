import { once } from 'node:events'
import { z } from 'zod'
import { type CallContext, Identity, RequestPriority } from '#proto/call.ts'
import {
  type ServiceHandlers,
  declareByteFrames,
  event,
  declareJsonFrames,
  rpc,
  service,
  stream,
} from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { releaseBytes } from '../body.ts'

const callers = ['gateway', 'report'] as const
const empty = z.object({})
const text = z.object({ text: z.string() })
const served = z.object({ instance: z.string() })

/** A contract with one method per guarantee of a bus. */
export const probe = service('query', {
  echo: rpc({
    doc: 'The text again.',
    callers,
    safe: true,
    input: text.extend({ times: z.number().default(1) }),
    output: text,
  }),
  call: rpc({
    doc: 'Returns the call as the handler sees it.',
    callers,
    input: empty,
    output: z.object({
      identity: Identity,
      priority: RequestPriority,
      deadline: z.number(),
      caller: z.string(),
      traceparent: z.string().nullable(),
      tracestate: z.string().nullable(),
    }),
  }),
  fail: rpc({ doc: 'Fails.', callers, input: z.object({ how: z.enum(['known', 'defect', 'misfit']) }), output: empty }),
  hold: rpc({ doc: 'Answers when released.', callers, input: empty, output: served }),
  large: rpc({ doc: 'A long answer.', callers, safe: true, input: z.object({ length: z.number() }), output: text }),
  instance: rpc({ doc: 'Who answers.', callers, safe: true, input: empty, output: served }),
  dial: rpc({ doc: 'Who answers for guests.', callers, guest: true, input: empty, output: served }),
  ofHost: rpc({
    doc: 'Who answers.',
    callers,
    safe: true,
    prefer: 'hostKey',
    input: z.object({ hostKey: z.string() }),
    output: served,
  }),
  holdHost: rpc({
    doc: 'Answers when released; can be repeated.',
    callers,
    safe: true,
    prefer: 'hostKey',
    input: z.object({ hostKey: z.string(), statement: z.number() }),
    output: served,
  }),
  ofRun: rpc({ doc: 'Who answers.', callers, exact: 'runId', input: z.object({ runId: z.string() }), output: served }),
  spread: rpc({
    doc: 'Who answers; instances whose name begins with `full` are busy.',
    callers,
    elsewhere: true,
    input: empty,
    output: served,
  }),
  stall: rpc({
    doc: 'Never answers on one instance.',
    callers,
    safe: true,
    prefer: 'hostKey',
    input: z.object({ hostKey: z.string(), on: z.string() }),
    output: served,
  }),
  stallOnce: rpc({
    doc: 'Never responds on one instance, and must not be called twice.',
    callers,
    prefer: 'hostKey',
    input: z.object({ hostKey: z.string(), on: z.string() }),
    output: served,
  }),
  secret: rpc({ doc: 'Needs a feature.', callers, feature: 'SECURITY', input: empty, output: empty }),
  count: stream({
    doc: 'Numbers in order; `failAt` is one that fails, `pauseAt` one that never comes.',
    callers,
    safe: true,
    input: z.object({
      to: z.number(),
      padding: z.number().default(0),
      failAt: z.number().default(-1),
      pauseAt: z.number().default(-1),
    }),
    head: z.object({ to: z.number() }),
    frames: declareJsonFrames(z.object({ number: z.number(), padding: z.string() })),
    tail: z.object({ counted: z.number() }),
  }),
  blob: stream({
    doc: 'Bytes in pieces of one size, each filled with its number.',
    callers,
    input: z.object({ pieces: z.number(), size: z.number() }),
    head: empty,
    frames: declareByteFrames(),
    tail: z.object({ pieces: z.number() }),
  }),
})

export const probeEvent = event({
  name: 'something.happened',
  doc: 'A test said so.',
  publishers: ['gateway'],
  listeners: ['gateway', 'query', 'report'],
  payload: z.object({ number: z.number() }),
})

/** The recorded calls of an instance, and the function that releases `hold`. */
export interface ProbeRecord {
  held: number
  aborted: number
  produced: number
  returned: number
  release(): void
}

export const secretText = 'the password is swordfish'

/** Returns the handlers of an instance and their recorded calls. */
export const createProbeHandlers = (
  instance: string,
): { handlers: ServiceHandlers<typeof probe>; seen: ProbeRecord } => {
  const released = Promise.withResolvers<void>()
  const seen: ProbeRecord = { held: 0, aborted: 0, produced: 0, returned: 0, release: () => released.resolve() }
  const untilAborted = async ({ signal }: CallContext): Promise<never> => {
    seen.held += 1
    if (!signal.aborted) await once(signal, 'abort')
    seen.aborted += 1
    throw signal.reason
  }
  const who = async () => ({ instance })
  const hold = async (_input: object, call: CallContext) => {
    await Promise.race([released.promise, untilAborted(call)])
    return { instance }
  }
  const stall = async ({ on }: { on: string }, call: CallContext) =>
    on === instance ? untilAborted(call) : { instance }
  const handlers: ServiceHandlers<typeof probe> = {
    echo: async ({ text, times }) => ({ text: text.repeat(times) }),
    call: async (_input, { identity, priority, deadline, caller, trace }) => ({
      identity,
      priority,
      deadline,
      caller: caller ?? 'none',
      traceparent: trace?.traceparent ?? null,
      tracestate: trace?.tracestate ?? null,
    }),
    async fail({ how }) {
      if (how === 'misfit') return JSON.parse('"not an object"')
      if (how === 'defect') throw new TypeError(secretText)
      throw new ServiceError('conflict', 'the value was changed concurrently', {
        details: { by: 'them' },
        retryAfterMs: 1_500,
      })
    },
    hold,
    holdHost: hold,
    large: async ({ length }) => ({ text: 'é'.repeat(length) }),
    instance: who,
    dial: who,
    ofHost: who,
    ofRun: who,
    async spread() {
      if (instance.startsWith('full')) throw new ServiceError('busy', 'no free slot', { retryAfterMs: 1_000 })
      return { instance }
    },
    stall,
    stallOnce: stall,
    secret: async () => ({}),
    async count({ to, padding, failAt, pauseAt }, call) {
      const frames = async function* () {
        try {
          for (let number = 0; number < to; number += 1) {
            if (number === failAt) throw new ServiceError('not-found', `unknown number "${number}"`)
            if (number === pauseAt) await untilAborted(call)
            seen.produced += 1
            yield { number, padding: 'x'.repeat(padding) }
          }
          return { counted: to }
        } finally {
          seen.returned += 1
        }
      }
      return { head: { to }, frames: frames() }
    },
    async blob({ pieces, size }) {
      const frames = async function* () {
        // The handler reuses one buffer and clears it at the end, so the sender has to copy the frames.
        const piece = new Uint8Array(size)
        for (let number = 0; number < pieces; number += 1) {
          seen.produced += 1
          yield piece.fill(number % 251)
        }
        releaseBytes(piece)
        return { pieces }
      }
      return { head: {}, frames: frames() }
    },
  }
  return { handlers, seen }
}

/** Returns the context of a call that a service makes to itself. Its deadline is later than the end of any test. */
export const createProbeCall = (part: Partial<CallContext> = {}): CallContext => ({
  identity: { kind: 'service', subject: 'test', features: 'all' },
  deadline: performance.now() + 60_000,
  signal: new AbortController().signal,
  priority: 'person',
  ...part,
})
