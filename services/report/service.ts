import { service } from '#proto/contract.ts'
import { query } from '#proto/query.ts'
import { report } from '#proto/report.ts'
import type { Start } from '#shared/service.ts'
import { handlers } from './handlers/index.ts'
import { openInsightStore } from './stores/index.ts'

const { weekly: _weekly, ...present } = report.methods

/** What of the contract `report` there is in this release; the bus says of its other methods that there are none. */
const served = service('report', present)

/** Looks for insights, keeps them, and advises on statements. */
export const start: Start = async ({ env, bus, clock, store, telemetry: { log } }) => {
  await using opened = new AsyncDisposableStack()
  const client = bus.client(query)
  const kept = opened.use(await openInsightStore({ env, query: client, log }))
  opened.use(await bus.serve(served, handlers({ env, clock, store, kept, log, query: client })))
  log.info({ insights: kept.store.backend }, 'report serves')
  return opened.move()
}
