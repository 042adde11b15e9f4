import { pino } from 'pino'
import { Registry } from 'prom-client'
import { ServiceError } from '#proto/errors.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { noopTracers } from '#shared/telemetry/tracing.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openClient } from '../../query/clickhouse/client.ts'
import { type MonitoredHost, validateHostList } from '../../query/hosts/host-list.ts'
import { queryHostRights } from '../../query/managed-hosts/host-rights.ts'
import { createUsageError } from '../exit-codes.ts'
import { checkRights, checkTls, checkVersion } from './check-connection.ts'
import { checkHealth } from './check-health.ts'
import type { Finding } from './finding.ts'
import { inspectTls, type TlsState } from './tls.ts'

/** What `doctor` needs to know about a host. */
export interface DoctorTarget {
  url: URL
  user: string
  password: string
}

/** The result of an examination. If the host cannot be reached, only `failure` says why. */
export type Examination =
  | { isReachable: false; tls: TlsState | null; failure: string; isRefused: boolean }
  | { isReachable: true; version: string; findings: Finding[] }

/** Time limit of the whole examination. */
const withinMs = 60_000
/** The database of the tables of Watchhouse on a host, unless a setting changes it. */
const database = 'watchhouse'

/** Examines a host with its own connection, without a server. */
export const examineHost = async (target: DoctorTarget, signal: AbortSignal): Promise<Examination> => {
  const host = toHost(target)
  const tls = await inspectTls(target.url, Date.now(), signal).catch((error: unknown) => String(error))
  const client = openClient({ env: {}, telemetry: createSilentTelemetry(), clock: systemClock })
  const context = { signal, deadline: systemClock.elapsedMs() + withinMs, priority: 'person' } as const
  try {
    const capabilities = await client.capabilities(host, context)
    const rights = await queryHostRights(capabilities, database, (statement) => client.run(host, statement, context))
    return {
      isReachable: true,
      version: capabilities.version,
      findings: [
        ...(typeof tls === 'string' ? [] : [checkTls(tls)]),
        checkVersion(capabilities.version),
        ...checkRights(rights, capabilities, { user: host.user, database }),
        ...(await checkHealth({ client, host, capabilities, context })),
      ],
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ServiceError)) throw error
    const isRefused = error.details?.reason === 'refused'
    return { isReachable: false, tls: typeof tls === 'string' ? null : tls, failure: error.message, isRefused }
  } finally {
    await client[Symbol.asyncDispose]()
  }
}

const toHost = ({ url, user, password }: DoctorTarget): MonitoredHost => {
  const { hosts, problems } = validateHostList('url', [{ url: url.href, user, password }])
  const [host] = hosts
  if (!host) throw createUsageError(problems.map(({ sentence }) => sentence).join('; '))
  return host
}

/** Returns telemetry that goes nowhere: the findings are the only output. */
const createSilentTelemetry = (): Telemetry => ({
  log: pino({ level: 'silent' }),
  metrics: new Registry(),
  tracer: noopTracers.tracer('query'),
})
