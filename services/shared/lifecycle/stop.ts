import type { Logger } from 'pino'

/** The pending request to stop this process, made by a signal or an uncaught error. */
export interface StopRequest extends Disposable {
  /** Resolves at the first signal or uncaught error. */
  readonly requested: Promise<void>
  readonly isRequested: boolean
  /** Ends the process after `graceMs` if work is still in flight; called when the stop begins. */
  bound(graceMs: number): void
}

const signals = ['SIGTERM', 'SIGINT'] as const

/** Signals within this time count as one: a Ctrl-C arrives from the terminal and again from the parent process. */
const defaultSameSignalMs = 1_000

/** Exit code after an uncaught error. */
const failureExitCode = 1

/**
 * Listens for signals and uncaught errors, which request a stop. Another signal after `sameSignalMs` ends the process
 * immediately.
 */
export const listenForStop = (log: Logger, { sameSignalMs = defaultSameSignalMs } = {}): StopRequest => {
  const stop = Promise.withResolvers<void>()
  let since: number | undefined
  const request = (): void => {
    since ??= performance.now()
    stop.resolve()
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (since !== undefined && performance.now() - since > sameSignalMs) endAtOnce(`received ${signal} again`)
    if (since === undefined) log.info({ signal }, 'stopping')
    request()
  }
  const onError = (error: unknown): void => {
    log.fatal({ err: error }, 'stopping: uncaught error')
    process.exitCode = failureExitCode
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
    // Throws, because a signal to itself would not end Node as PID 1, which ignores signals without a handler.
    release()
    throw new Error(`exited before all work was finished: ${why}`)
  }

  return {
    requested: stop.promise,
    get isRequested() {
      return since !== undefined
    },
    bound: (graceMs) => void setTimeout(endAtOnce, graceMs, `work still in flight after ${graceMs} ms`).unref(),
    [Symbol.dispose]: release,
  }
}
