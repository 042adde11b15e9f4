import type { Logger } from 'pino'

/** Work that fails at each attempt while a dependency is unavailable. */
export interface Outage {
  failed(error: unknown): void
  worked(): void
}

interface Words {
  begins: string
  ends: string
  /** Fields of both log lines. */
  facts?: object
}

/** Logs the begin and the end of an outage only; a line per attempt would bury other logs. */
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
