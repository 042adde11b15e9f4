import type { Logger } from 'pino'

/** A request to stop this process, by a signal or by an uncaught error. */
export interface StopRequest extends Disposable {
  /** Resolves once: at the first signal, or at an uncaught error. */
  readonly requested: Promise<void>
  readonly isRequested: boolean
  /** Limits the time for the work in flight; called when the stop begins. */
  bound(graceMs: number): void
}

const signals = ['SIGTERM', 'SIGINT'] as const

/** One Ctrl-C arrives from the terminal and again from the parent process; it counts once. */
const defaultSameSignalMs = 1_000

/** Exit code after an uncaught error. */
const failed = 1

/**
 * Turns signals and uncaught errors into one request to stop. A second signal, later than `sameSignalMs`, ends the process at once.
 */
export const listenForStop = (log: Logger, { sameSignalMs = defaultSameSignalMs } = {}): StopRequest => {
  const stop = Promise.withResolvers<void>()
  let since: number | undefined
  const request = (): void => {
    since ??= performance.now()
    stop.resolve()
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (since !== undefined && performance.now() - since > sameSignalMs) endAtOnce(`${signal} again`)
    if (since === undefined) log.info({ signal }, 'stopping')
    request()
  }
  const onError = (error: unknown): void => {
    log.fatal({ err: error }, 'stopping: uncaught error')
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
    log.error({ why }, 'exiting immediately; calls in flight are lost')
    // An uncaught error ends Node immediately, also as the first process of a container, which ignores signals.
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
