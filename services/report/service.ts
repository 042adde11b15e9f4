import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { Start } from '#shared/lifecycle/service.ts'
import { handlers } from './handlers.ts'
import { openSchedule } from './insights/round.ts'
import { openReports } from './reports/store.ts'
import { openInsightStore } from './stores/index.ts'
import { openWork } from './work.ts'

/** Looks for insights, keeps them, advises on statements and writes reports. */
export const start: Start = async ({ env, bus, clock, net, store, telemetry: { log } }) => {
  await using opened = new AsyncDisposableStack()
  const asking = { query: bus.client(query), alerts: bus.client(alerts), agent: bus.client(agent) }
  const kept = opened.use(await openInsightStore({ env, query: asking.query, net, log }))
  const { reports, lasting } = opened.use(await openReports(env, log))
  const parts = { ...asking, env, clock, store, log, kept, insights: kept.store, reports }
  const work = openWork()
  opened.use(await bus.serve(report, handlers({ ...parts, work })))
  // Ended before the calls that wait for it are.
  opened.use(work)
  opened.use(openSchedule(parts, work))
  log.info({ insights: kept.store.backend, reportsLast: lasting }, 'report serves')
  return opened.move()
}
