import { agent } from '#proto/agent.ts'
import { alerts } from '#proto/alerts.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { ServiceStarter } from '#shared/lifecycle/service.ts'
import { createReportServiceHandlers } from './handlers.ts'
import { openScanSchedule } from './insights/schedule.ts'
import { openReportStore } from './reports/store.ts'
import { openInsightStore } from './stores/index.ts'
import { openBackgroundTasks } from './background-tasks.ts'

/** Starts the service that scans hosts for insights, advises on queries and writes reports. */
export const start: ServiceStarter = async ({ env, bus, clock, net, store, telemetry: { log } }) => {
  await using opened = new AsyncDisposableStack()
  const clients = { query: bus.client(query), alerts: bus.client(alerts), agent: bus.client(agent) }
  const insightStore = opened.use(await openInsightStore({ env, query: clients.query, net, log }))
  const { reports, persistent } = opened.use(await openReportStore(env, log))
  const deps = { ...clients, env, clock, store, log, insightStore, insights: insightStore.store, reports }
  const work = openBackgroundTasks()
  opened.use(await bus.serve(report, createReportServiceHandlers({ ...deps, work })))
  // Disposed before the bus service, so that the callers of aborted tasks still receive the error.
  opened.use(work)
  opened.use(openScanSchedule(deps, work))
  log.info({ insights: insightStore.store.backend, persistentReports: persistent }, 'report started')
  return opened.move()
}
