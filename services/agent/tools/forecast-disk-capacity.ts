import { z } from 'zod'
import { hostAt, ofHost, readTool, told } from '../read-tool.ts'

export const forecastDiskCapacity = readTool({
  name: 'forecast_disk_capacity',
  title: 'Forecast capacity',
  description:
    'When each disk will be full, and when inserts will be refused for too many parts, as ranges of days, by the history of the host.',
  feature: 'INSIGHTS',
  input: z.strictObject(ofHost),
  async run({ hostId }, asking) {
    const host = await hostAt(asking, hostId)
    const { forecasts, notes } = await asking.report.forecast({ hostKey: host.key }, asking.call)
    const [soonest] = forecasts
      .filter(({ days }) => days !== null)
      .toSorted((a, b) => (a.days?.soonest ?? 0) - (b.days?.soonest ?? 0))
    const text = soonest?.outlook ?? `Nothing on ${host.name} is seen to run full.`
    return told(text, { forecasts, notes })
  },
})
