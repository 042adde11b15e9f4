import type { Logger } from 'pino'

/** Something that fails at each try while what it needs is away. */
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

/** Logs when an outage begins and when it is over: the tries between would bury whatever else is logged. */
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
