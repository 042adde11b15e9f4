import { queryOptions } from '@tanstack/svelte-query'
import { runStatement } from '#lib/api/console.ts'
import { call } from '#lib/api/call.ts'

/** What a host understands, by its own account. */
export interface Vocabulary {
  /** Words and phrases, in capitals. */
  keywords: readonly string[]
  functions: readonly { name: string; isAggregate: boolean }[]
  types: readonly string[]
  tables: readonly { database: string; table: string; engine: string }[]
  /** False where the host has more tables than were asked for, or said nothing. */
  areAllTables: boolean
}

export const noVocabulary: Vocabulary = { keywords: [], functions: [], types: [], tables: [], areAllTables: false }

const mostWords = 20_000
const mostTables = 10_000

/** Asked once for a host; what it does not tell is left out. */
export const vocabularyQuery = (host: number) =>
  queryOptions({
    queryKey: ['vocabulary', host],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }): Promise<Vocabulary> => {
      const words = async (query: string): Promise<unknown[][]> =>
        (await runStatement({ host, query, maxRows: mostWords }, signal)).data.rows
      const [keywords, functions, types, tables] = await Promise.all([
        known(words('SELECT keyword FROM system.keywords ORDER BY keyword')),
        known(words('SELECT name, is_aggregate FROM system.functions ORDER BY name')),
        known(words('SELECT name FROM system.data_type_families ORDER BY name')),
        known(tablesOf(host, signal)),
      ])
      return {
        keywords: keywords.map(([word]) => String(word)),
        functions: functions.map(([name, isAggregate]) => ({
          name: String(name),
          isAggregate: Number(isAggregate) > 0,
        })),
        types: types.map(([name]) => String(name)),
        tables,
        areAllTables: tables.length > 0 && tables.length < mostTables,
      }
    },
  })

const tablesOf = async (host: number, signal: AbortSignal) =>
  (await call('GET /api/v1/tables', { query: { hostId: host, limit: mostTables }, signal })).data

/** Older servers have no table of keywords, and a user may lack a grant: then the rest is still of use. */
const known = <Item>(asked: Promise<Item[]>): Promise<Item[]> => asked.catch(() => [])
