import { adviceMethods } from '#proto/advice.ts'
import { service } from '#proto/contract.ts'
import { query } from '#proto/query.ts'
import type { Start } from '#shared/service.ts'
import { handlers } from './handlers/index.ts'

/** What of the contract `report` there is in this release; the bus says of its other methods that there are none. */
const served = service('report', adviceMethods)

/** Advises on statements. */
export const start: Start = async ({ env, bus, clock, telemetry }) => {
  const serving = await bus.serve(served, handlers({ env, clock, query: bus.client(query) }))
  telemetry.log.info('report serves')
  return serving
}
