import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { keySettings } from './config.ts'

const strongLength = 16

/** Every key shows what the secret made of it, so whoever holds one can guess at a short secret without asking here. */
export const warnOfWeakSecret = (env: Environment, log: Logger): void => {
  const { SVC_API_KEY_SECRET: secret } = read(keySettings, env)
  if (secret !== undefined && secret.current.length < strongLength)
    log.warn(`SVC_API_KEY_SECRET has fewer than ${strongLength} characters: whoever holds a key could guess it`)
}
