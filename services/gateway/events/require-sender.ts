import type { IncomingHttpHeaders } from 'node:http'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { requireBearer } from '../request/require-bearer.ts'
import { eventSettings } from './config.ts'

/** Lets through who knows `SVC_EVENTS_INGEST_TOKEN`, or the one before it, and nobody while there is none. */
export const requireSender = (headers: IncomingHttpHeaders, env: Environment): void =>
  requireBearer(headers, read(eventSettings, env).SVC_EVENTS_INGEST_TOKEN, {
    unset: 'events are not taken: the operator has not set SVC_EVENTS_INGEST_TOKEN',
    wrong: 'send the ingest token as Authorization: Bearer',
  })
