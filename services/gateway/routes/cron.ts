import type { CallContext, ServiceName } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { CronQuery, PruneResponse, SweepResponse, WeeklyReportResponse } from '#proto/http/cron.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { auditSettings } from '../audit/open-audit.ts'
import { gatewayIdentity } from '../auth/identity.ts'
import type { Gateway } from '../gateway.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { requireCronSecret } from '../webhooks/bearer-secrets.ts'

const common = { feature: null, access: 'own-bearer', secretOnly: true, limit: 'data', query: CronQuery } as const

const healthSweep = defineGetRoute({
  ...common,
  path: '/api/cron/health-sweep',
  doc: 'Runs the health checks on all hosts and sends alerts',
  answer: SweepResponse,
  refuses: [409],
  handle: async ({ headers, query, call }, gateway) => {
    requireCronSecret({ headers, query }, gateway.env)
    const swept = await withServiceName('alert-dispatcher', gateway.alerts.sweep({}, scheduled(call)))
    return createSuccessBody(swept.enabled ? swept : { enabled: false as const }, {})
  },
})

const retentionPrune = defineGetRoute({
  ...common,
  path: '/api/cron/retention-prune',
  doc: 'Deletes records that are older than their retention',
  answer: PruneResponse,
  handle: async ({ headers, query, call }, gateway) => {
    requireCronSecret({ headers, query }, gateway.env)
    return createSuccessBody({ removed: await pruneAll(gateway, scheduled(call)) }, {})
  },
})

const weeklyReport = defineGetRoute({
  ...common,
  path: '/api/cron/weekly-report',
  doc: 'Builds the weekly reports of hosts that opted in',
  answer: WeeklyReportResponse,
  handle: async ({ headers, query, call }, gateway) => {
    requireCronSecret({ headers, query }, gateway.env)
    return createSuccessBody(await withServiceName('report', gateway.report.weekly({}, scheduled(call))), {})
  },
})

/** Returns a call on behalf of the gateway with low priority, because no user waits for the result. */
const scheduled = (call: CallContext): CallContext => ({ ...call, identity: gatewayIdentity, priority: 'sweep' })

/** Adds the service name to `unavailable` errors, because one scheduler calls several services through the gateway. */
const withServiceName = async <T>(service: ServiceName, request: Promise<T>): Promise<T> => {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error
    // Only errors of a running service contain a reason and a retry time.
    const { retryAfterMs, message } = error
    const isRunning = retryAfterMs !== undefined
    const sentence = isRunning ? `${service} is unavailable: ${message}` : `service "${service}" does not respond`
    throw new ServiceError('unavailable', sentence, { retryAfterMs, cause: error })
  }
}

type Removed = Readonly<Record<string, number>>

/** Returns the prune calls of all services with a retention, including the gateway. */
const collectPruneCalls = (
  gateway: Gateway,
): Partial<Record<ServiceName, (call: CallContext) => Promise<Removed>>> => ({
  gateway: async () => ({ audit: await pruneAudit(gateway), incidentNotes: await pruneIncidentNotes(gateway) }),
  agent: async (call) => (await gateway.agent.prune({}, call)).removed,
  'alert-dispatcher': async (call) => (await gateway.alerts.prune({}, call)).removed,
  ingest: async (call) => (await gateway.ingest.prune({}, call)).removed,
  report: async (call) => (await gateway.report.prune({}, call)).removed,
})

/**
 * Prunes all services concurrently. Services that are not running or have nothing to prune are skipped. If others
 * failed, throws `unavailable` with their names after all have finished.
 */
const pruneAll = async (gateway: Gateway, call: CallContext): Promise<Record<string, Removed>> => {
  const owners = Object.entries(collectPruneCalls(gateway))
  const results = await Promise.allSettled(owners.map(([, prune]) => prune(call)))
  const removed: Record<string, Removed> = {}
  const failed: string[] = []
  for (const [index, [name]] of owners.entries()) {
    const answer = results[index]
    if (answer?.status === 'fulfilled') removed[name] = answer.value
    else if (!hasNothingToPrune(answer?.reason)) failed.push(name)
  }
  if (failed.length === 0) return removed
  throw new ServiceError('unavailable', `retention prune failed in ${failed.join(' and ')}`, {
    details: { failed, removed },
  })
}

const dayMs = 86_400_000

const findAuditEndMs = ({ clock, env }: Gateway): number =>
  clock.now() - parseSettings(auditSettings, env).SVC_AUDIT_DAYS * dayMs

const pruneAudit = (gateway: Gateway): Promise<number> => gateway.audit.prune(findAuditEndMs(gateway))

/** Notes name their authors, as audit records do, and are retained as long. */
const pruneIncidentNotes = (gateway: Gateway): Promise<number> => gateway.incidentNotes.prune(findAuditEndMs(gateway))

const hasNothingToPrune = (error: unknown): boolean =>
  error instanceof ServiceError && (error.details?.running === false || error.code === 'not-implemented')

export const cronRoutes: readonly Route[] = [healthSweep, retentionPrune, weeklyReport]
