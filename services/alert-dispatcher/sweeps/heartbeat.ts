import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { sweepSettings } from './sweep-settings.ts'

const answersWithinMs = 5_000

/** Tells whoever expects it that a sweep has ended; that it cannot be told fails no sweep. */
export const beat = async ({ env, net, log }: { env: Environment; net: Net; log: Logger }): Promise<void> => {
  const { HEALTH_ALERT_HEARTBEAT_URL: address } = read(sweepSettings, env)
  if (!address) return
  try {
    const answer = await net.trusted(address, { timeoutMs: answersWithinMs })
    await answer.body?.cancel()
    if (!answer.ok) log.warn({ status: answer.status }, 'heartbeat was refused')
  } catch (error) {
    // Its message names the host at most, never the path, which is a secret.
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'heartbeat could not be sent')
  }
}
