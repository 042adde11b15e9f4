import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#proto/errors.ts'

const beatEveryMs = 1_000
const answerWithinMs = 1_000

/** Whether a server answers, asked once a second: an idle connection does not tell that its other end hangs. */
export interface Heartbeat extends AsyncDisposable {
  readonly connected: boolean
  /** Throws `unavailable` at once while the server does not answer, so that callers need not wait to learn it. */
  require(): void
  /** What somebody learned outside the beat. */
  learn(connected: boolean): void
}

/** Asks `probe` until disposed; begins connected, for it is made after the first answer. `told` hears each change. */
export const startHeartbeat = (
  probe: () => Promise<unknown>,
  told: (connected: boolean) => void = () => {},
): Heartbeat => {
  const stop = new AbortController()
  let connected = true
  const learn = (now: boolean) => {
    // Closing the connection ourselves is no news.
    if (now !== connected && !stop.signal.aborted) told(now)
    connected = now
  }
  const running = beat(probe, learn, stop.signal)
  return {
    get connected() {
      return connected
    },
    require() {
      if (!connected)
        throw new ServiceError('unavailable', 'the state store does not answer', { retryAfterMs: beatEveryMs })
    },
    learn,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const beat = async (
  probe: () => Promise<unknown>,
  learn: (connected: boolean) => void,
  signal: AbortSignal,
): Promise<void> => {
  let asked: Promise<boolean> | undefined
  while (!signal.aborted) {
    await wait(beatEveryMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    // A question that hangs is waited for again; asking more would fill the connections of a server that hangs.
    asked ??= ask(probe).finally(() => (asked = undefined))
    learn(await within(asked, signal))
  }
}

const ask = async (probe: () => Promise<unknown>): Promise<boolean> => {
  try {
    await probe()
    return true
  } catch {
    return false
  }
}

const within = async (answer: Promise<boolean>, signal: AbortSignal): Promise<boolean> => {
  const over = new AbortController()
  const late = wait(answerWithinMs, false, { signal: AbortSignal.any([signal, over.signal]), ref: false }).catch(
    () => false,
  )
  try {
    return await Promise.race([answer, late])
  } finally {
    over.abort()
  }
}
