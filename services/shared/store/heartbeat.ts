import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#proto/errors.ts'

const beatEveryMs = 1_000
const unanswered = 'the state store does not answer'
const answerWithinMs = 1_000

/** Whether a server answers, asked once a second: an idle connection does not tell that its other end hangs. */
export interface Heartbeat extends AsyncDisposable {
  readonly connected: boolean
  /** Why it does not answer; undefined while it does. */
  readonly reason: string | undefined
  /** Throws `unavailable` at once while the server does not answer, so that callers need not wait to learn it. */
  require(): void
  /** What somebody learned outside the beat. */
  learn(connected: boolean): void
}

/**
 * Asks `probe` until disposed; begins connected, for it is made after the first answer. `told` hears each change. `explain` puts into
 * words why a probe failed: with what it threw, or with undefined where no answer came in time.
 */
export const startHeartbeat = (
  probe: () => Promise<unknown>,
  told: (connected: boolean, reason?: string) => void = () => {},
  explain: (error: unknown) => string | undefined = () => undefined,
): Heartbeat => {
  const stop = new AbortController()
  let connected = true
  let reason: string | undefined
  const learn = (now: boolean, error?: unknown) => {
    if (!now) reason = explain(error) ?? unanswered
    // Closing the connection ourselves is no news.
    if (now !== connected && !stop.signal.aborted) told(now, now ? undefined : reason)
    connected = now
  }
  const running = beat(probe, learn, stop.signal)
  return {
    get connected() {
      return connected
    },
    get reason() {
      return connected ? undefined : reason
    },
    require() {
      if (!connected) throw new ServiceError('unavailable', reason ?? unanswered, { retryAfterMs: beatEveryMs })
    },
    learn: (now) => learn(now),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const beat = async (
  probe: () => Promise<unknown>,
  learn: (connected: boolean, error?: unknown) => void,
  signal: AbortSignal,
): Promise<void> => {
  let asked: Promise<Answer> | undefined
  while (!signal.aborted) {
    await wait(beatEveryMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    // A question that hangs is waited for again; asking more would fill the connections of a server that hangs.
    asked ??= ask(probe).finally(() => (asked = undefined))
    const { answered, error } = await within(asked, signal)
    learn(answered, error)
  }
}

interface Answer {
  answered: boolean
  /** What the probe threw. */
  error?: unknown
}

const ask = async (probe: () => Promise<unknown>): Promise<Answer> => {
  try {
    await probe()
    return { answered: true }
  } catch (error) {
    return { answered: false, error }
  }
}

const late: Answer = { answered: false }

const within = async (answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> => {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  // An event loop that is late hears of its timers before it reads what has come meanwhile; then it is not the server that is slow.
  const timeout = wait(answerWithinMs, undefined, { signal: either, ref: false }).then(
    () => turn(late),
    () => late,
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    over.abort()
  }
}
