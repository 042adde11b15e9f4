import { z } from 'zod'
import { adviceMethods } from './advice.ts'
import { rpc, service } from './contract.ts'
import { forecastMethods } from './forecasts.ts'
import { hostReportMethods } from './host-report.ts'
import { insightMethods } from './insights.ts'
import { createFindingMethods } from './finding.ts'
import { pruneMethods } from './retention.ts'
import { structureAdviceMethods } from './structure-advice.ts'

/** Detects insights, forecasts, advises on queries, and writes reports. */
export const report = service('report', {
  weekly: rpc({
    doc: 'Writes and sends the weekly report of every opted-in host.',
    callers: ['gateway'],
    input: z.object({}),
    /** Reports are stored even if they cannot be delivered. */
    output: z.object({ written: z.int().min(0), delivered: z.int().min(0) }),
  }),
  ...createFindingMethods('INSIGHTS'),
  ...pruneMethods,
  ...adviceMethods,
  ...insightMethods,
  ...hostReportMethods,
  ...forecastMethods,
  ...structureAdviceMethods,
})
