import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#proto/errors.ts'
import type { Logger } from 'pino'

/**
 * Returns a listener that logs when the server `name` becomes unavailable or available again, and each failure while it
 * is available.
 */
export const createOutageReporter =
  (log: Logger | undefined, name: string) =>
  (connected: boolean, reason?: string): void => {
    if (!connected) log?.warn({ reason }, `${name} unavailable`)
    else if (reason === undefined) log?.info(`${name} available again`)
    else log?.warn({ reason }, `${name} failed`)
  }

const beatEveryMs = 1_000
const noAnswerReason = 'the state store does not answer'
const answerWithinMs = 1_000

/** A probe of a server once a second. Without it, an idle connection would not show that the server hangs. */
export interface Heartbeat extends AsyncDisposable {
  readonly connected: boolean
  /** Why the server does not respond; undefined while it does. */
  readonly reason: string | undefined
  /** Throws `unavailable` immediately while the server does not respond, so that callers do not wait for a timeout. */
  require(): void
  /** Records a state that was observed outside the probe. */
  learn(connected: boolean): void
}

/**
 * Runs `probe` until disposed; starts as connected. Calls `report` on each change. `explain` returns why a probe
 * failed; its argument is the thrown error, or undefined after a timeout.
 */
export const startHeartbeat = (
  probe: () => Promise<unknown>,
  report: (connected: boolean, reason?: string) => void = () => {},
  explain: (error: unknown) => string | undefined = () => undefined,
): Heartbeat => {
  const stop = new AbortController()
  let connected = true
  let reason: string | undefined
  const learn = (now: boolean, error?: unknown) => {
    if (!now) reason = explain(error) ?? noAnswerReason
    // A disconnect after disposal is not reported.
    if (now !== connected && !stop.signal.aborted) report(now, now ? undefined : reason)
    connected = now
  }
  const running = runProbes(probe, learn, stop.signal)
  return {
    get connected() {
      return connected
    },
    get reason() {
      return connected ? undefined : reason
    },
    require() {
      if (!connected) throw new ServiceError('unavailable', reason ?? noAnswerReason, { retryAfterMs: beatEveryMs })
    },
    learn: (now) => learn(now),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const runProbes = async (
  probe: () => Promise<unknown>,
  learn: (connected: boolean, error?: unknown) => void,
  signal: AbortSignal,
): Promise<void> => {
  let pending: Promise<Answer> | undefined
  while (!signal.aborted) {
    await wait(beatEveryMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    // A pending probe is awaited again; a second one would use more connections of a hanging server.
    pending ??= runProbe(probe).finally(() => (pending = undefined))
    const { answered, error } = await waitForAnswer(pending, signal)
    learn(answered, error)
  }
}

interface Answer {
  answered: boolean
  /** The error of a failed probe. */
  error?: unknown
}

const runProbe = async (probe: () => Promise<unknown>): Promise<Answer> => {
  try {
    await probe()
    return { answered: true }
  } catch (error) {
    return { answered: false, error }
  }
}

const timeoutAnswer: Answer = { answered: false }

const waitForAnswer = async (answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> => {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  // A delayed event loop runs timers before it reads responses, so a timeout does not prove that the server is slow.
  const timeout = wait(answerWithinMs, undefined, { signal: either, ref: false }).then(
    () => turn(timeoutAnswer),
    () => timeoutAnswer,
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    over.abort()
  }
}
