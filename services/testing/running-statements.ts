import { fetchJson } from './fetch-json.ts'

/** Returns the number of statements that a `query` process runs now, from its metrics. */
export const countRunningStatements = async (operationsUrl: string): Promise<number> => {
  const { text } = await fetchJson(`${operationsUrl}/metrics`)
  const counts = [...text.matchAll(/^watchhouse_query_statements_running\{.*\} (\d+)/gm)].map(([, count]) =>
    Number(count),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
