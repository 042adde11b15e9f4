import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'

interface TimeLimitOptions {
  /** The signal of the caller. */
  outer: AbortSignal
  limitMs: number
  /** Returns the error of a timeout. */
  late: () => Error
}

/** Longest delay that a timer supports. */
const maxTimerMs = 2_147_483_647

/** A signal that aborts when the caller leaves or `limitMs` has passed since construction. */
export class TimeLimit implements Disposable {
  readonly #controller = new AbortController()
  readonly #outer: AbortSignal
  readonly #timer: NodeJS.Timeout

  constructor({ outer, limitMs, late }: TimeLimitOptions) {
    this.#outer = outer
    this.#timer = setTimeout(() => this.end(late()), Math.min(Math.max(0, limitMs), maxTimerMs))
    if (outer.aborted) this.#leave()
    else outer.addEventListener('abort', this.#leave, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Aborts the signal early. */
  end(error: Error): void {
    this.#controller.abort(error)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#outer.removeEventListener('abort', this.#leave)
  }

  readonly #leave = (): void => this.#controller.abort(this.#outer.reason)
}

/** The current values of `COLUMNDB_POOL_*`. */
export interface PoolSettings {
  /** Maximum number of concurrent statements of callers and reports; sweeps have additional connections. */
  size: number
  idleMs: number
}

/** The current limits of the settings. */
export interface Limits {
  pool: PoolSettings
  cleanupIntervalMs: number
  maxExecutionSeconds: number
  cache: boolean
}

const { COLUMNDB_POOL_SIZE, COLUMNDB_POOL_TIMEOUT, COLUMNDB_POOL_CLEANUP_INTERVAL } = settings
const { COLUMNDB_MAX_EXECUTION_TIME, SVC_QUERY_CACHE } = settings
const limitSettings = {
  COLUMNDB_POOL_SIZE,
  COLUMNDB_POOL_TIMEOUT,
  COLUMNDB_POOL_CLEANUP_INTERVAL,
  COLUMNDB_MAX_EXECUTION_TIME,
  SVC_QUERY_CACHE,
}

/** Reads the current limits; cheap enough for every statement. */
export const readLimits = (env: Environment): Limits => {
  const values = read(limitSettings, env)
  return {
    pool: { size: values.COLUMNDB_POOL_SIZE, idleMs: values.COLUMNDB_POOL_TIMEOUT },
    cleanupIntervalMs: values.COLUMNDB_POOL_CLEANUP_INTERVAL,
    maxExecutionSeconds: values.COLUMNDB_MAX_EXECUTION_TIME,
    cache: values.SVC_QUERY_CACHE,
  }
}
