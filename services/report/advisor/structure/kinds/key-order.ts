import { figure } from '../../../measures/words.ts'
import type { Kind } from '../facts.ts'

const fewestRows = 100_000
/** A leading column with a value of its own for nearly every row orders the table alone. */
const nearlyUnique = 0.5
const fewValues = 0.01

/** A key whose first column leaves nothing to those behind it, and tables without any key. */
export const keyOrder: Kind = ({ name, overview, columns, sampled, counted }) => {
  const { sortingKey } = overview
  const common = { kind: 'key-order' as const, subject: name, ddl: null, savings: null }
  const risk =
    'A sorting key cannot be changed: rows are copied into a new table. Statements that filter by the first column of today read more.'
  if (sortingKey === '') {
    if ((overview.rows ?? 0) < fewestRows) return []
    return [
      {
        ...common,
        title: 'A sorting key',
        rationale: `The table has ${figure(overview.rows ?? 0)} rows and no order, so that every statement reads all of them.`,
        proof: 'unverified',
        risk,
      },
    ]
  }
  const keys = sortingKey.split(', ')
  const [leading, ...rest] = keys.map((key) => columns.find((column) => column.name === key))
  const first = leading && counted.get(leading.name)
  if (!leading || !first || sampled < fewestRows || first.distinct < nearlyUnique * sampled) return []
  const better = rest.find((column) => {
    const counts = column && counted.get(column.name)
    return counts !== undefined && counts.distinct < fewValues * sampled
  })
  if (!better) return []
  return [
    {
      ...common,
      title: `${better.name} before ${leading.name} in the sorting key`,
      rationale: `${leading.name} has ${figure(first.distinct)} values in ${figure(sampled)} rows, so that ${better.name} behind it orders nothing. Columns of few values belong first: then a filter by either leaves out granules, and like values compress better.`,
      proof: 'estimated',
      risk,
    },
  ]
}
