import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { isSameText } from '../auth/same-text.ts'
import { bearerOf } from '../bearer.ts'
import { cronSettings } from './config.ts'

/** Lets through who knows `CRON_SECRET`, or the one before it, and nobody while there is none. */
export const requireScheduler = (headers: IncomingHttpHeaders, env: Environment): void => {
  const { CRON_SECRET: secret } = read(cronSettings, env)
  if (secret === undefined) {
    throw new ServiceError('unavailable', 'cron routes are shut: the operator has not set CRON_SECRET')
  }
  const bearer = bearerOf(headers) ?? ''
  const known = [secret.current, secret.previous].filter((text) => text !== undefined)
  // Every secret is compared, so that the time does not tell which of them was nearly met.
  if (!known.map((text) => isSameText(bearer, text)).includes(true)) {
    throw new ServiceError('unauthenticated', 'send the cron secret as Authorization: Bearer')
  }
}
