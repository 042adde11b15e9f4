import type { Logger } from 'pino'
import type { Clock } from '#shared/time/clock.ts'
import { openOutage } from '#shared/telemetry/outage.ts'

/** How long what was read is used: a change through another process shows within this. */
const freshMs = 2_000

/** Something that is read from a database; while that does not answer, what it said last holds. */
export interface LastKnown<T> {
  get(): Promise<T>
  /** It is read anew before it is used again. */
  changed(): void
}

interface Reading<T> {
  initial: T
  clock: Clock
  read(): Promise<T>
  log: Logger
  /** What it is that is read, for the log. */
  named: string
}

/** Reads for all who ask meanwhile at once. */
export const openLastKnown = <T>({ initial, clock, read, log, named }: Reading<T>): LastKnown<T> => {
  const begins = `${named} cannot be read; those read last hold`
  const outage = openOutage(log, { begins, ends: `${named} are read again` })
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
    // What changed meanwhile may have been missed.
    if (before === changes) readAtMs = clock.elapsedMs()
  }

  /** What was read after now was read before the clock was set back. */
  const isFresh = (): boolean => {
    const ageMs = clock.elapsedMs() - readAtMs
    return ageMs >= 0 && ageMs < freshMs
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
