import { queryOptions } from '@tanstack/svelte-query'
import { runStatement } from '#lib/api/console.ts'
import { call } from '#lib/api/call.ts'

/** Keywords, functions, types and tables of a host. */
export interface Vocabulary {
  /** Keywords and keyword phrases in upper case. */
  keywords: readonly string[]
  functions: readonly { name: string; isAggregate: boolean }[]
  types: readonly string[]
  tables: readonly { database: string; table: string; engine: string }[]
  /** Whether `tables` is complete; false if it is truncated or unavailable. */
  areAllTables: boolean
}

export const emptyVocabulary: Vocabulary = { keywords: [], functions: [], types: [], tables: [], areAllTables: false }

const maxWords = 20_000
const maxTables = 10_000

/** Query for the vocabulary of a host, fetched once. Lists that fail to load are empty. */
export const vocabularyQuery = (host: number) =>
  queryOptions({
    queryKey: ['vocabulary', host],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }): Promise<Vocabulary> => {
      const words = async (query: string): Promise<unknown[][]> =>
        (await runStatement({ host, query, maxRows: maxWords }, signal)).data.rows
      const [keywords, functions, types, tables] = await Promise.all([
        emptyOnFailure(words('SELECT keyword FROM system.keywords ORDER BY keyword')),
        emptyOnFailure(words('SELECT name, is_aggregate FROM system.functions ORDER BY name')),
        emptyOnFailure(words('SELECT name FROM system.data_type_families ORDER BY name')),
        emptyOnFailure(tablesOf(host, signal)),
      ])
      return {
        keywords: keywords.map(([word]) => String(word)),
        functions: functions.map(([name, isAggregate]) => ({
          name: String(name),
          isAggregate: Number(isAggregate) > 0,
        })),
        types: types.map(([name]) => String(name)),
        tables,
        areAllTables: tables.length > 0 && tables.length < maxTables,
      }
    },
  })

const tablesOf = async (host: number, signal: AbortSignal) =>
  (await call('GET /api/v1/tables', { query: { hostId: host, limit: maxTables }, signal })).data

/** Returns an empty list on failure: older servers lack some tables and users may lack grants. */
const emptyOnFailure = <Item>(items: Promise<Item[]>): Promise<Item[]> => items.catch(() => [])
