import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { type InsightRow, type InsightRowSet, insightRowSets } from '#proto/insight-rows.ts'
import type { ReportServiceDeps } from '../background-tasks.ts'
import { forecastDisks, forecastPartCount, type ForecastResult } from './forecasts.ts'

/** The forecasts of a host with the rows from which they were computed. */
interface HostForecasts extends ForecastResult {
  diskHours: readonly InsightRow<'disk-hours'>[]
  partHours: readonly InsightRow<'part-hours'>[]
}

type Deps = Pick<ReportServiceDeps, 'query'>

/** Forecasts the resources of a host. Notes explain missing forecasts. */
export const readForecasts = async (deps: Deps, hostKey: string, call: CallContext): Promise<HostForecasts> => {
  const disks = await forecastRows(deps, { hostKey, set: 'disk-hours' }, call, forecastDisks)
  const parts = await forecastRows(deps, { hostKey, set: 'part-hours' }, call, forecastPartCount)
  return {
    forecasts: [...disks.forecasts, ...parts.forecasts],
    notes: [...disks.notes, ...parts.notes],
    awaited: disks.awaited,
    diskHours: disks.rows,
    partHours: parts.rows,
  }
}

const forecastRows = async <S extends InsightRowSet>(
  { query }: Deps,
  input: { hostKey: string; set: S },
  call: CallContext,
  compute: (rows: InsightRow<S>[]) => ForecastResult,
): Promise<ForecastResult & { rows: readonly InsightRow<S>[] }> => {
  const { rows, unavailable } = await query.insightRows(input, call)
  if (unavailable) return { forecasts: [], notes: [unavailable.message], awaited: [], rows: [] }
  // The cast is safe, because the row type is derived from the schema that validates the rows.
  const parsed = z.array(insightRowSets[input.set]).parse(rows) as InsightRow<S>[]
  return { ...compute(parsed), rows: parsed }
}
