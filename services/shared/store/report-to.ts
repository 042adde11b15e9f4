import type { Logger } from 'pino'

/** Logs when what is called `name` stops and begins to answer, and what it fails at meanwhile, each with its reason. */
export const reportTo =
  (log: Logger | undefined, name: string) =>
  (connected: boolean, reason?: string): void => {
    if (!connected) log?.warn({ reason }, `${name} does not answer`)
    else if (reason === undefined) log?.info(`${name} answers again`)
    else log?.warn({ reason }, `${name} failed`)
  }
