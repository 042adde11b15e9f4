import { formatNumber } from '../../../format.ts'
import type { TableAdvisor } from '../table-facts.ts'

const minRows = 100_000
/** Minimum share of distinct values of a nearly unique column. Key columns after such a column have no effect. */
const nearlyUniqueShare = 0.5
const fewValuesShare = 0.01

/** Returns advice on sorting keys with a nearly unique first column, and on tables without a sorting key. */
export const adviseOnKeyOrder: TableAdvisor = ({ name, overview, columns, sampled, counted }) => {
  const { sortingKey } = overview
  const common = { kind: 'key-order' as const, subject: name, ddl: null, savings: null }
  const risk =
    'A sorting key cannot be changed: rows are copied into a new table. Queries that filter by the current first column read more.'
  if (sortingKey === '') {
    if ((overview.rows ?? 0) < minRows) return []
    return [
      {
        ...common,
        title: 'Add a sorting key',
        rationale: `The table has ${formatNumber(overview.rows ?? 0)} rows and no sorting key, so every query reads all of them.`,
        proof: 'unverified',
        risk,
      },
    ]
  }
  const keys = sortingKey.split(', ')
  const [leading, ...rest] = keys.map((key) => columns.find((column) => column.name === key))
  const first = leading && counted.get(leading.name)
  if (!leading || !first || sampled < minRows || first.distinct < nearlyUniqueShare * sampled) return []
  const better = rest.find((column) => {
    const counts = column && counted.get(column.name)
    return counts !== undefined && counts.distinct < fewValuesShare * sampled
  })
  if (!better) return []
  return [
    {
      ...common,
      title: `${better.name} before ${leading.name} in the sorting key`,
      rationale: `${leading.name} has ${formatNumber(first.distinct)} values in ${formatNumber(sampled)} rows, so ${better.name} after it has no effect. Put columns with few distinct values first: filters on either column then skip granules, and similar values compress better.`,
      proof: 'estimated',
      risk,
    },
  ]
}
