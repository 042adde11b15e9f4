import type { Logger } from 'pino'

/** Logs the outages of a dependency that is used repeatedly. */
export interface OutageLog {
  /** Records a failed attempt. */
  failed(error: unknown): void
  /** Records a successful attempt. */
  worked(): void
}

interface OutageMessages {
  begins: string
  ends: string
  /** Additional fields of both log entries. */
  facts?: object
}

/** Returns a log that records only the start and the end of an outage, not every failed attempt. */
export const openOutageLog = (log: Logger | undefined, { begins, ends, facts }: OutageMessages): OutageLog => {
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
