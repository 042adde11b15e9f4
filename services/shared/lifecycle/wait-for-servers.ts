import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { processSettings } from '../config/process.ts'
import { parseSettings } from '../config/setting.ts'
import { findServerProblems } from './check-servers.ts'
import type { StopRequest } from './stop.ts'

const firstPauseMs = 250
const maxPauseMs = 5_000

/**
 * Waits up to `STARTUP_WAIT_MS` until all configured servers respond, and logs once what it waits for. Returns after
 * that time too, because the start then fails with the error of the first server. Returns early on a stop request.
 */
export const waitForServers = async (
  env: Environment,
  log: Logger,
  stop: Pick<StopRequest, 'isRequested' | 'requested'>,
): Promise<void> => {
  const until = performance.now() + parseSettings(processSettings, env).STARTUP_WAIT_MS
  let isLogged = false
  for (
    let pauseMs = firstPauseMs;
    performance.now() < until && !stop.isRequested;
    pauseMs = Math.min(2 * pauseMs, maxPauseMs)
  ) {
    const problems = await findServerProblems(env)
    if (problems.length === 0) return
    if (!isLogged) log.warn({ problems }, 'waiting for servers')
    isLogged = true
    // A random share of the pause, so that the processes of a cluster do not retry at the same time.
    const pause = Math.min(pauseMs * (0.5 + Math.random() / 2), Math.max(0, until - performance.now()))
    await Promise.race([wait(pause), stop.requested])
  }
}
