import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { hostReportMethods } from '#proto/host-report.ts'
import type { report } from '#proto/report.ts'
import { build } from './build.ts'
import { render } from './render/index.ts'
import { reportZone } from './settings.ts'
import type { KeptReport } from './store.ts'
import { type Writing, writeWeekly } from './weekly.ts'
import type { Work } from '../work.ts'

/** What the handlers about reports work with. */
export interface ReportParts extends Writing {
  work: Work
}

/** The answer has to be on its way before its caller stops listening. */
const marginMs = 2_000

/** Writes, lists and opens reports. */
export const reportHandlers = (
  parts: ReportParts,
): Handlers<Service<typeof hostReportMethods & Pick<(typeof report)['methods'], 'weekly'>>> => ({
  weekly: () => parts.work.run((signal) => writeWeekly(parts, signal)),
  reports: (filter) => parts.reports.list(filter),
  hostReport: ({ id }) => find(parts, id),
  renderReport: async ({ id, format }) => {
    const { report } = await find(parts, id)
    return { hostKey: report.hostKey, text: render(report, format) }
  },
  buildReport: async ({ hostKey, fromMs, toMs, zone: asked }, call) => {
    if (fromMs >= parts.clock.now()) throw new ServiceError('invalid', 'a report is about a period that has begun')
    const host = (await parts.query.hosts({}, call)).find(({ key }) => key === hostKey)
    const about = { hostKey, host: host?.name ?? hostKey, week: null, zone: asked ?? reportZone(parts.env) }
    const asking = { ...call, deadline: call.deadline - marginMs }
    const report = await build(parts, { about, period: { fromMs, toMs }, before: undefined }, asking)
    await parts.reports.replace(report)
    return report
  },
})

const find = async ({ reports }: ReportParts, id: string): Promise<KeptReport> => {
  const kept = await reports.get(id)
  if (!kept) throw new ServiceError('not-found', 'no such report; it may have been removed as old')
  return kept
}
