import type { Logger } from 'pino'
import type { Clock } from '../time/clock.ts'
import { openOutageLog } from '../telemetry/outage.ts'

/** How long a value is reused; changes by another process appear within this time. */
const valueTtlMs = 2_000

/** A cached value from a database. While the database is unavailable, it stays the last known value. */
export interface LastKnownValue<T> {
  get(): Promise<T>
  /** Invalidates the value, so that the next call reads it again. */
  changed(): void
}

interface LastKnownValueOptions<T> {
  initial: T
  clock: Clock
  read(): Promise<T>
  log: Logger
  /** Name of the value in log messages. */
  named: string
}

/** Opens a cached value; concurrent calls share one read. */
export const openLastKnownValue = <T>({
  initial,
  clock,
  read,
  log,
  named,
}: LastKnownValueOptions<T>): LastKnownValue<T> => {
  const begins = `reading ${named} failed; using the last known ones`
  const outage = openOutageLog(log, { begins, ends: `reading ${named} recovered` })
  let known = initial
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let changes = 0

  const readAgain = async (): Promise<void> => {
    const before = changes
    try {
      known = await read()
      outage.worked()
    } catch (error) {
      outage.failed(error)
    }
    // If a change arrived during the read, the value may be outdated, so it is read again.
    if (before === changes) readAtMs = clock.elapsedMs()
  }

  /** Returns whether the value can be reused. A negative age means that the clock was set back since the read. */
  const isFresh = (): boolean => {
    const ageMs = clock.elapsedMs() - readAtMs
    return ageMs >= 0 && ageMs < valueTtlMs
  }

  return {
    async get() {
      while (!isFresh()) {
        reading ??= readAgain().finally(() => {
          reading = undefined
        })
        await reading
      }
      return known
    },
    changed: () => {
      changes += 1
      readAtMs = Number.NEGATIVE_INFINITY
    },
  }
}
