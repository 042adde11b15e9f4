import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { signingKeySetting, parseSettings } from '#shared/config/setting.ts'
import { requireBearer } from '../request/bearer.ts'

/** Settings of the cron routes. */
export const cronSettings = {
  CRON_SECRET: signingKeySetting('Bearer token of the cron routes; without it they return 503.'),
} as const

interface BearerRequest {
  headers: IncomingHttpHeaders
  query: object
}

/** Throws unless the bearer token is the current or previous `CRON_SECRET`; `unavailable` if it is not set. */
export const requireCronSecret = ({ headers, query }: BearerRequest, env: Environment): void => {
  const secret = parseSettings(cronSettings, env).CRON_SECRET
  if (secret !== undefined) refuseInUrl(query)
  requireBearer(headers, secret, {
    unset: 'cron routes are disabled: CRON_SECRET is not set',
    wrong: 'missing or wrong cron secret; send it as Authorization: Bearer',
  })
}

/** Rejects a secret in the URL, because proxies and browsers log URLs. */
const refuseInUrl = (query: object): void => {
  if (!Object.hasOwn(query, 'secret')) return
  const message = 'must not be in the URL; send it as Authorization: Bearer'
  const details = { parameter: 'secret', problems: [{ parameter: 'secret', message }] }
  throw new ServiceError('invalid', `secret ${message}`, { details })
}
