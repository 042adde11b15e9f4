import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { signingKey, read } from '#shared/config/setting.ts'
import { requireBearer } from '../request/bearer.ts'

/** What lets a scheduler in. */
export const cronSettings = {
  CRON_SECRET: signingKey('Bearer token of the cron routes; without it they return 503.'),
} as const

/** What lets senders of events in. */
export const eventSettings = {
  SVC_EVENTS_INGEST_TOKEN: signingKey('Bearer token of POST /api/events/ingest; without it the route returns 503.'),
} as const

interface BearerRequest {
  headers: IncomingHttpHeaders
  query: object
}

/** Accepts callers with `CRON_SECRET` or its predecessor; rejects all without one. */
export const requireScheduler = ({ headers, query }: BearerRequest, env: Environment): void => {
  const secret = read(cronSettings, env).CRON_SECRET
  if (secret !== undefined) refuseInUrl(query)
  requireBearer(headers, secret, {
    unset: 'cron routes are shut: the operator has not set CRON_SECRET',
    wrong: 'send the cron secret as Authorization: Bearer',
  })
}

/** Proxies and browsers write URLs down. */
const refuseInUrl = (query: object): void => {
  if (!Object.hasOwn(query, 'secret')) return
  const message = 'must not be in the URL; send it as Authorization: Bearer'
  const details = { parameter: 'secret', problems: [{ parameter: 'secret', message }] }
  throw new ServiceError('invalid', `secret ${message}`, { details })
}

/** Accepts callers with `SVC_EVENTS_INGEST_TOKEN` or its predecessor; rejects all without one. */
export const requireSender = (headers: IncomingHttpHeaders, env: Environment): void =>
  requireBearer(headers, read(eventSettings, env).SVC_EVENTS_INGEST_TOKEN, {
    unset: 'events are rejected: SVC_EVENTS_INGEST_TOKEN is not set',
    wrong: 'send the ingest token as Authorization: Bearer',
  })
