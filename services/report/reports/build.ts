import type { alerts } from '#proto/alerts.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { HostReport } from '#proto/host-report.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { InsightStore } from '../stores/store.ts'
import { gather } from './gather.ts'
import type { Period } from './period.ts'
import { type About, writeReport } from './write-report.ts'

/** Whom reports are made from. */
export interface Sources {
  query: Client<typeof query>
  alerts: Client<typeof alerts>
  insights: InsightStore
  clock: Clock
}

interface Asked {
  about: About
  period: Period
  before: HostReport | undefined
}

/** Gathers and writes one report; keeps nothing. */
export const build = async (sources: Sources, { about, period, before }: Asked, call: Call): Promise<HostReport> => {
  const { query, alerts, insights, clock } = sources
  const asking = { ...call, priority: 'report' as const }
  const { hostKey } = about
  const gathered = { query, alerts, insights, call: asking, hostKey, period, nowMs: clock.now(), before }
  return writeReport(about, await gather(gathered))
}
