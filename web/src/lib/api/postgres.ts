import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  PostgresActivityAnswer,
  PostgresLocksAnswer,
  PostgresReplicationAnswer,
  PostgresStatementsAnswer,
  PostgresStatusAnswer,
  PostgresTablesAnswer,
} from '#proto/http/postgres.ts'
import { requestJson } from './request.ts'

type Parameters = Readonly<Record<string, string>>

const read = <A extends z.ZodType>(section: string, parameters: Parameters = {}) => {
  const search = new URLSearchParams(parameters).toString()
  return queryOptions({
    queryKey: ['postgres', section, parameters],
    queryFn: ({ signal }) =>
      requestJson<z.infer<A>>(`/api/v1/postgres/${section}${search && `?${search}`}`, { signal }),
  })
}

/** Whether the PostgreSQL source answers. */
export const postgresStatusQuery = () => read<typeof PostgresStatusAnswer>('status')
/** Sessions; with `all` idle ones and processes of the server itself too. */
export const postgresActivityQuery = (all: boolean) =>
  read<typeof PostgresActivityAnswer>('activity', { limit: '500', ...(all && { all: '1' }) })
/** Patterns of statements. */
export const postgresStatementsQuery = (order: string, search: string) =>
  read<typeof PostgresStatementsAnswer>('statements', { order, limit: '200', ...(search && { search }) })
/** Tables of the source's database. */
export const postgresTablesQuery = (order: string, search: string) =>
  read<typeof PostgresTablesAnswer>('tables', { order, limit: '200', ...(search && { search }) })
/** Who copies from whom. */
export const postgresReplicationQuery = () => read<typeof PostgresReplicationAnswer>('replication')
/** Who blocks whom. */
export const postgresLocksQuery = () => read<typeof PostgresLocksAnswer>('locks')
