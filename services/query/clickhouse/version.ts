import type { Sql } from '#proto/catalogue.ts'

/** The statement for a server: the highest `since` not above its version; none when all are above. */
export const sqlFor = (sql: Sql, serverVersion: string): string | undefined => {
  if (typeof sql === 'string') return sql
  const fitting = sql.filter((branch) => compareVersions(branch.since, serverVersion) <= 0)
  return fitting.toSorted((a, b) => compareVersions(b.since, a.since))[0]?.sql
}

/** Compares year and month of two versions such as `24.3` and `24.11.2.1`. */
export const compareVersions = (a: string, b: string): number => {
  const [aYear = 0, aMonth = 0] = a.split('.').map(Number)
  const [bYear = 0, bMonth = 0] = b.split('.').map(Number)
  return aYear - bYear || aMonth - bMonth
}
