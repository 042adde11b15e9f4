import { queryOptions } from '@tanstack/svelte-query'
import { call, type ResponseBody } from './call.ts'

export type SchemaDiff = ResponseBody<'GET /api/v1/schema-diff'>

/** One side of a schema diff. `time` is in epoch seconds; null for the current schema. */
export interface SchemaSide {
  hostId: number | null
  group: string | null
  time: number | null
}

/** Query for the difference of two schemas. It is disabled if the sides are equal or incomplete. */
export const schemaDiffQuery = (base: SchemaSide, target: SchemaSide, database: string | null) => {
  const isComplete = [base, target].every(({ hostId, group }) => hostId !== null || group !== null)
  const isDifferent = base.hostId !== target.hostId || base.group !== target.group || base.time !== target.time
  const query = {
    baseHostId: base.hostId ?? undefined,
    baseGroup: base.group ?? undefined,
    baseTime: base.time ?? undefined,
    targetHostId: target.hostId ?? undefined,
    targetGroup: target.group ?? undefined,
    targetTime: target.time ?? undefined,
    database: database ?? undefined,
  }
  return queryOptions({
    queryKey: ['schema-diff', query],
    enabled: isComplete && isDifferent,
    queryFn: ({ signal }) => call('GET /api/v1/schema-diff', { query, signal }),
  })
}
