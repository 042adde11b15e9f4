import type { Call, ServiceName } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { CronQuery, PruneAnswer, SweepAnswer, WeeklyReportAnswer } from '#proto/http/cron.ts'
import { read } from '#shared/config/setting.ts'
import { auditSettings } from '../audit/open-audit.ts'
import { gatewayItself } from '../auth/identity.ts'
import type { Gateway } from '../gateway.ts'
import { success } from '../response/envelope.ts'
import { getRoute, type Route } from '../http-route.ts'
import { requireScheduler } from '../webhooks/bearers.ts'

const common = { feature: null, access: 'own-bearer', secretOnly: true, limit: 'data', query: CronQuery } as const

const healthSweep = getRoute({
  ...common,
  path: '/api/cron/health-sweep',
  doc: 'Runs the health checks over all hosts and sends alerts',
  answer: SweepAnswer,
  refuses: [409],
  handle: async ({ headers, query, call }, gateway) => {
    requireScheduler({ headers, query }, gateway.env)
    const swept = await named('alert-dispatcher', gateway.alerts.sweep({}, scheduled(call)))
    return success(swept.enabled ? swept : { enabled: false as const }, {})
  },
})

const retentionPrune = getRoute({
  ...common,
  path: '/api/cron/retention-prune',
  doc: 'Removes what is older than its stated age',
  answer: PruneAnswer,
  handle: async ({ headers, query, call }, gateway) => {
    requireScheduler({ headers, query }, gateway.env)
    return success({ removed: await pruneAll(gateway, scheduled(call)) }, {})
  },
})

const weeklyReport = getRoute({
  ...common,
  path: '/api/cron/weekly-report',
  doc: 'Builds the weekly reports of the hosts that have opted in',
  answer: WeeklyReportAnswer,
  handle: async ({ headers, query, call }, gateway) => {
    requireScheduler({ headers, query }, gateway.env)
    return success(await named('report', gateway.report.weekly({}, scheduled(call))), {})
  },
})

/** Nobody waits at a screen, and the scheduler is nobody whose features would count. */
const scheduled = (call: Call): Call => ({ ...call, identity: gatewayItself, priority: 'sweep' })

/** Says who it was that could not be reached: a scheduler sees three services behind one door. */
const named = async <T>(service: ServiceName, asked: Promise<T>): Promise<T> => {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error
    // Who is there says what it lacks, and when to ask again.
    const { retryAfterMs, message } = error
    const isThere = retryAfterMs !== undefined
    const sentence = isThere ? `${service} cannot do it now: ${message}` : `the service ${service} does not answer`
    throw new ServiceError('unavailable', sentence, { retryAfterMs, cause: error })
  }
}

type Removed = Readonly<Record<string, number>>

/** Every service that keeps something for a stated time, the gateway itself among them. */
const ownersOf = (gateway: Gateway): Partial<Record<ServiceName, (call: Call) => Promise<Removed>>> => ({
  gateway: async () => ({ audit: await pruneAudit(gateway) }),
  agent: async (call) => (await gateway.agent.prune({}, call)).removed,
  'alert-dispatcher': async (call) => (await gateway.alerts.prune({}, call)).removed,
  ingest: async (call) => (await gateway.ingest.prune({}, call)).removed,
  report: async (call) => (await gateway.report.prune({}, call)).removed,
})

/**
 * Asks all owners at once to remove what is too old. One that is not running, or whose release keeps nothing, has nothing to
 * remove it from; when another fails this throws, after all have been asked.
 */
const pruneAll = async (gateway: Gateway, call: Call): Promise<Record<string, Removed>> => {
  const owners = Object.entries(ownersOf(gateway))
  const asked = await Promise.allSettled(owners.map(([, prune]) => prune(call)))
  const removed: Record<string, Removed> = {}
  const failed: string[] = []
  for (const [index, [name]] of owners.entries()) {
    const answer = asked[index]
    if (answer?.status === 'fulfilled') removed[name] = answer.value
    else if (!keepsNothing(answer?.reason)) failed.push(name)
  }
  if (failed.length === 0) return removed
  throw new ServiceError('unavailable', `${failed.join(' and ')} could not remove what is too old`, {
    details: { failed, removed },
  })
}

const dayMs = 86_400_000

const pruneAudit = ({ audit, clock, env }: Gateway): Promise<number> =>
  audit.prune(clock.now() - read(auditSettings, env).SVC_AUDIT_DAYS * dayMs)

const keepsNothing = (error: unknown): boolean =>
  error instanceof ServiceError && (error.details?.running === false || error.code === 'not-implemented')

export const cronRoutes: readonly Route[] = [healthSweep, retentionPrune, weeklyReport]
