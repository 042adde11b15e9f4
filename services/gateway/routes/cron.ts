import type { Call, ServiceName } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { CronQuery, PruneAnswer, SweepAnswer, WeeklyReportAnswer } from '#proto/http/cron.ts'
import { pruneAll } from '../cron/prune.ts'
import { requireScheduler } from '../cron/require-scheduler.ts'
import { gatewayItself } from '../identity.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'

const common = { feature: null, access: 'own-bearer', secretOnly: true, limit: 'data', query: CronQuery } as const

export const healthSweep = getRoute({
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

export const retentionPrune = getRoute({
  ...common,
  path: '/api/cron/retention-prune',
  doc: 'Removes what is older than its stated age',
  answer: PruneAnswer,
  handle: async ({ headers, query, call }, gateway) => {
    requireScheduler({ headers, query }, gateway.env)
    return success({ removed: await pruneAll(gateway, scheduled(call)) }, {})
  },
})

export const weeklyReport = getRoute({
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
