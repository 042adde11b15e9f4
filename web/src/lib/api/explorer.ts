import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { ConsoleAnswer } from '#proto/http/console.ts'
import type {
  ColumnsAnswer,
  DatabasesAnswer,
  DdlAnswer,
  DependenciesAnswer,
  PartsAnswer,
  ProjectionsAnswer,
  SkipIndexesAnswer,
  TableOverviewAnswer,
  TableQueriesAnswer,
  TablesAnswer,
  UsageAnswer,
} from '#proto/http/explorer.ts'
import { requestJson } from './request.ts'

/** Definitions change rarely, and trees are opened often. */
const staleTime = 60_000

/** A database, or a table in it. */
export interface Place {
  database: string
  table?: string
}

const ask = <Answer>(host: number, view: string, place: Partial<Place> = {}) =>
  queryOptions({
    queryKey: ['explorer', host, view, place],
    staleTime,
    queryFn: ({ signal }) => {
      const search = new URLSearchParams({ hostId: String(host), ...place })
      return requestJson<Answer>(`/api/v1/explorer/${view}?${search}`, { signal })
    },
  })

export type Dependency = z.infer<typeof DependenciesAnswer>['data'][number]

export const databasesQuery = (host: number) => ask<z.infer<typeof DatabasesAnswer>>(host, 'databases')
export const tablesQuery = (host: number, database: string) =>
  ask<z.infer<typeof TablesAnswer>>(host, 'tables', { database })

type OfTable = Required<Place>

export const tableQuery = (host: number, place: OfTable) =>
  ask<z.infer<typeof TableOverviewAnswer>>(host, 'table', place)
export const columnsQuery = (host: number, place: OfTable) => ask<z.infer<typeof ColumnsAnswer>>(host, 'columns', place)
export const ddlQuery = (host: number, place: Place) => ask<z.infer<typeof DdlAnswer>>(host, 'ddl', place)
export const skipIndexesQuery = (host: number, place: OfTable) =>
  ask<z.infer<typeof SkipIndexesAnswer>>(host, 'skip-indexes', place)
export const projectionsQuery = (host: number, place: OfTable) =>
  ask<z.infer<typeof ProjectionsAnswer>>(host, 'projections', place)
export const partsQuery = (host: number, place: OfTable) => ask<z.infer<typeof PartsAnswer>>(host, 'parts', place)
export const dependenciesQuery = (host: number, place: Place) =>
  ask<z.infer<typeof DependenciesAnswer>>(host, 'dependencies', place)
export const usageQuery = (host: number, place: OfTable) => ask<z.infer<typeof UsageAnswer>>(host, 'usage', place)
export const tableQueriesQuery = (host: number, place: OfTable) =>
  ask<z.infer<typeof TableQueriesAnswer>>(host, 'query-log', place)
export const previewQuery = (host: number, place: OfTable) => ask<z.infer<typeof ConsoleAnswer>>(host, 'preview', place)
