import type { ComparedPattern, PatternFigures } from '#proto/comparison.ts'
import type { PatternRow } from './pattern-statement.ts'

/** Patterns with their figures on each host, those first on which the hosts differ most in total time. */
export const sideBySide = (hosts: readonly (readonly PatternRow[])[], limit: number): ComparedPattern[] => {
  const byHash = hosts.map((rows) => new Map(rows.map((row) => [row.hash, row])))
  const named = new Map(hosts.flat().map(({ hash, query, kind }) => [hash, { hash, query, kind }]))
  return [...named.values()]
    .map((pattern) => ({ ...pattern, values: byHash.map((rows) => figuresOf(rows.get(pattern.hash))) }))
    .toSorted((left, right) => spread(right) - spread(left) || (left.hash < right.hash ? -1 : 1))
    .slice(0, limit)
}

const figuresOf = (row: PatternRow | undefined): PatternFigures | null => {
  if (!row) return null
  const { hash: _hash, query: _query, kind: _kind, ...figures } = row
  return figures
}

const spread = ({ values }: ComparedPattern): number => {
  const times = values.map((figures) => figures?.totalMs ?? 0)
  return Math.max(...times) - Math.min(...times)
}
