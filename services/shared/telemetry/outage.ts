import type { Logger } from 'pino'

/** Work that fails at each attempt while a dependency is unavailable. */
export interface Outage {
  failed(error: unknown): void
  worked(): void
}

interface Words {
  begins: string
  ends: string
  /** Goes with both lines. */
  facts?: object
}

/** Logs when an outage begins and when it is over; a line for each attempt would bury other logs. */
export const openOutage = (log: Logger | undefined, { begins, ends, facts }: Words): Outage => {
  let isFailing = false
  return {
    failed(error) {
      if (!isFailing) log?.warn({ err: error, ...facts }, begins)
      isFailing = true
    },
    worked() {
      if (isFailing) log?.info({ ...facts }, ends)
      isFailing = false
    },
  }
}
