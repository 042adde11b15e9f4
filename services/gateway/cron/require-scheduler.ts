import type { IncomingHttpHeaders } from 'node:http'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { requireBearer } from '../request/require-bearer.ts'
import { cronSettings } from './config.ts'

/** Lets through who knows `CRON_SECRET`, or the one before it, and nobody while there is none. */
export const requireScheduler = (headers: IncomingHttpHeaders, env: Environment): void =>
  requireBearer(headers, read(cronSettings, env).CRON_SECRET, {
    unset: 'cron routes are shut: the operator has not set CRON_SECRET',
    wrong: 'send the cron secret as Authorization: Bearer',
  })
