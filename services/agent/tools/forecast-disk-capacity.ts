import { z } from 'zod'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { hostParameter } from '#shared/tools/tool-parameters.ts'

export const forecastDiskCapacity = defineReadTool({
  name: 'forecast_disk_capacity',
  title: 'Forecast capacity',
  description:
    'When each disk will be full, and when inserts will fail with too many parts, as a range of days. Say so if `record` calls earlier forecasts poor.',
  feature: 'INSIGHTS',
  input: z.strictObject(hostParameter),
  async run({ hostId }, context) {
    const host = await findHost(context, hostId)
    const { forecasts, notes } = await context.report.forecast({ hostKey: host.key }, context.call)
    const [soonest] = forecasts
      .filter(({ days }) => days !== null)
      .toSorted((a, b) => (a.days?.soonest ?? 0) - (b.days?.soonest ?? 0))
    const fills = soonest?.summary ?? `No disk or partition of ${host.name} is forecast to fill up.`
    const record = (soonest ?? forecasts[0])?.record
    const text = record === undefined ? fills : `${fills}. Track record of the forecast: ${record.summary}.`
    return createToolResult(text, { forecasts, notes })
  },
})
