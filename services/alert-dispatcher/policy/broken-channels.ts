import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { channels } from '../channels/index.ts'
import { brokenChannels } from '../channels/targets.ts'
import type { PolicyBook } from './open-policy.ts'
import type { Policy } from './policy.ts'

/** Logs each channel that cannot be used, once for each reason, and again when it can be used. */
export type WarnOfBrokenChannels = (policy: Policy) => void

export const openBrokenChannels = async (
  env: Environment,
  log: Logger,
  book: Pick<PolicyBook, 'current'>,
): Promise<WarnOfBrokenChannels> => {
  let warned = new Map<string, string>()
  const warn: WarnOfBrokenChannels = (policy) => {
    const broken = brokenChannels({ channels, env, policy })
    const isNew = ({ channel, reason }: { channel: string; reason: string }) => warned.get(channel) !== reason
    for (const { channel, reason, defect } of broken.filter(isNew)) {
      if (defect === undefined) log.warn({ channel, reason }, 'channel cannot be used')
      else log.error({ channel, err: defect }, 'channel cannot be used')
    }
    const now = new Map(broken.map(({ channel, reason }) => [channel, reason]))
    for (const channel of warned.keys()) if (!now.has(channel)) log.info({ channel }, 'channel can be used again')
    warned = now
  }
  warn(await book.current())
  return warn
}
