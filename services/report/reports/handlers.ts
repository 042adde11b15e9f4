import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { hostReportMethods } from '#proto/host-report.ts'
import type { report } from '#proto/report.ts'
import { assembleReport } from './assemble-report.ts'
import { renderHostReport } from './render/index.ts'
import { getReportZone } from './settings.ts'
import type { StoredReport } from './store.ts'
import { type WeeklyReportDeps, writeWeeklyReports } from './weekly.ts'
import type { BackgroundTasks } from '../background-tasks.ts'

/** The dependencies of the report handlers. */
export interface ReportDeps extends WeeklyReportDeps {
  work: BackgroundTasks
}

/** Time before the deadline of the caller that is reserved for sending the response, in milliseconds. */
const marginMs = 2_000

/** Returns the handlers that write, list and render reports. */
export const createReportHandlers = (
  deps: ReportDeps,
): ServiceHandlers<Service<typeof hostReportMethods & Pick<(typeof report)['methods'], 'weekly'>>> => ({
  weekly: () => deps.work.run((signal) => writeWeeklyReports(deps, signal)),
  reports: (filter) => deps.reports.list(filter),
  hostReport: ({ id }) => requireReport(deps, id),
  renderReport: async ({ id, format }) => {
    const { report } = await requireReport(deps, id)
    return { hostKey: report.hostKey, text: renderHostReport(report, format) }
  },
  buildReport: async ({ hostKey, fromMs, toMs, zone }, call) => {
    if (fromMs >= deps.clock.now()) throw new ServiceError('invalid', 'the report period must start in the past')
    const host = (await deps.query.hosts({}, call)).find(({ key }) => key === hostKey)
    const about = { hostKey, host: host?.name ?? hostKey, week: null, zone: zone ?? getReportZone(deps.env) }
    const timed = { ...call, deadline: call.deadline - marginMs }
    const report = await assembleReport(deps, { about, period: { fromMs, toMs }, before: undefined }, timed)
    await deps.reports.replace(report)
    return report
  },
})

const requireReport = async ({ reports }: ReportDeps, id: string): Promise<StoredReport> => {
  const stored = await reports.get(id)
  if (!stored) throw new ServiceError('not-found', 'report not found; it may have expired')
  return stored
}
