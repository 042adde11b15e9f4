import type { Logger } from 'pino'

/** When this process was asked to end, and by what. */
export interface StopRequest extends Disposable {
  /** Resolves once: at the first signal, or at an error nobody caught. */
  readonly requested: Promise<void>
  readonly isRequested: boolean
  /** How long the work in flight may still take, told when the stop begins. */
  bound(graceMs: number): void
}

const signals = ['SIGTERM', 'SIGINT'] as const

/** One Ctrl-C reaches this process from the terminal and again from whoever started it; that is not a second wish. */
const defaultSameWishMs = 1_000

/** The exit code that says an error ended the process. */
const failed = 1

/**
 * Turns signals and uncaught errors into one request to stop; a further signal, more than `sameWishMs` after the first, ends
 * the process at once.
 */
export const listenForStop = (log: Logger, { sameWishMs = defaultSameWishMs } = {}): StopRequest => {
  const stop = Promise.withResolvers<void>()
  let since: number | undefined
  const request = (): void => {
    since ??= performance.now()
    stop.resolve()
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (since !== undefined && performance.now() - since > sameWishMs) endAtOnce(`${signal} again`)
    if (since === undefined) log.info({ signal }, 'stopping')
    request()
  }
  const onError = (error: unknown): void => {
    log.fatal({ err: error }, 'stopping: nobody caught this error')
    process.exitCode = failed
    request()
  }

  for (const signal of signals) process.on(signal, onSignal)
  process.on('uncaughtException', onError)
  process.on('unhandledRejection', onError)
  const release = (): void => {
    for (const signal of signals) process.off(signal, onSignal)
    process.off('uncaughtException', onError)
    process.off('unhandledRejection', onError)
  }
  const endAtOnce = (why: string): void => {
    log.error({ why }, 'ending at once; work in flight is lost')
    // An error that nobody catches is how Node ends at once, also as the first process of a container, which no signal ends.
    release()
    throw new Error(`ended at once: ${why}`)
  }

  return {
    requested: stop.promise,
    get isRequested() {
      return since !== undefined
    },
    bound: (graceMs) => void setTimeout(endAtOnce, graceMs, `not done after ${graceMs} ms`).unref(),
    [Symbol.dispose]: release,
  }
}
