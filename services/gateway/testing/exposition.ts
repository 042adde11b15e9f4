import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { QueryHandlers } from './query.ts'

const gzipped = promisify(gzip)

/** Two figures of every host, one of them in words that need care. */
export const figures = [
  String.raw`# HELP clickhouse_query Queries that run, in C:\\logs\nor elsewhere`,
  '# TYPE clickhouse_query gauge',
  'clickhouse_query 3',
  '# TYPE clickhouse_uptime gauge',
  'clickhouse_uptime 60.5',
  '',
].join('\n')

/** The figures of every host, as good as new. */
export const exposition: QueryHandlers['exposition'] = async () => ({
  head: { failure: null, ageMs: 250, freshForMs: 29_000 },
  frames: whole(await gzipped(figures)),
})

/** One piece is all there is. */
export async function* whole(text: Uint8Array): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  yield text
  return {}
}
