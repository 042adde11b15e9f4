import { setTimeout as wait } from 'node:timers/promises'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Gateway } from '../gateway.ts'

/** Which part of a run is wanted. */
export interface Wanted {
  runId: string
  /** Number of the last event that the caller has. */
  after: number
}

/** How long one reading may take; the run itself waits for less. */
const readWithinMs = 30_000
/** Readings in a row that may fail, while the bus or the process comes back. */
const failuresAtMost = 3
const pauseMs = 1_000
/** A line that clients skip: it shows proxies that the connection lives. */
const alive = ': alive\n\n'

/**
 * The events of a run as its caller reads them, to the last. The first reading is done when this resolves, so that a run that is gone has an
 * answer of its own; a run that is lost later ends with a part that says so.
 */
export const toldEvents = async (
  gateway: Pick<Gateway, 'agent' | 'clock'>,
  { runId, after }: Wanted,
  call: Call,
): Promise<AsyncGenerator<Uint8Array, void, void>> => {
  const read = (from: number) =>
    gateway.agent.read({ runId, after: from }, { ...call, deadline: gateway.clock.elapsedMs() + readWithinMs })
  const first = await read(after)
  return eventsFrom(first, read, runId, call)
}

type Reading = Awaited<ReturnType<Gateway['agent']['read']>>

async function* eventsFrom(
  first: Reading,
  read: (after: number) => Promise<Reading>,
  runId: string,
  { signal }: Call,
): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  let reading = first
  for (let failures = 0; ;) {
    yield encoder.encode(reading.events || alive)
    if (reading.ended) return
    try {
      reading = await read(reading.last)
      failures = 0
    } catch (error) {
      signal.throwIfAborted()
      failures += 1
      if (isFinal(error) || failures === failuresAtMost) return yield encoder.encode(lost(runId))
      reading = { ...reading, events: '' }
      await wait(pauseMs, undefined, { signal })
    }
  }
}

/** Whether asking again cannot help: the process is gone, or it says no. */
const isFinal = (error: unknown): boolean =>
  !(error instanceof ServiceError) ||
  !(error.code === 'unavailable' || error.code === 'timeout' || error.code === 'busy')

/** What a caller is told of a run whose process is gone; without numbers, since they are no events of the run. */
const lost = (runId: string): string => {
  const message = 'the process that worked at the answer is gone; ask again'
  const data = { code: 'run-lost', runId, message, retryable: true }
  return [
    { type: 'data-run-lost', id: 'run-lost', data },
    { type: 'error', errorText: message },
    { type: 'finish', finishReason: 'error' },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .concat('data: [DONE]\n\n')
    .join('')
}
