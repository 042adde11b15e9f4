import {
  type Proposal,
  columnNamed,
  comparedColumns,
  keepsRows,
  rowsPerMark,
  savedMarks,
  type Subject,
} from '../subject.ts'

/** A second order of the rows for one condition, or sums that are kept for one grouping. */
export const projection = (subject: Subject): Proposal[] =>
  keepsRows(subject) && !subject.read.isFinal ? [...ordered(subject), ...grouped(subject)] : []

const risk =
  'What it holds is stored once more, every insert writes it too, and MATERIALIZE PROJECTION reads the whole table once as a mutation. DROP PROJECTION takes it back.'

const ordered = (subject: Subject): Proposal[] => {
  const { read, overview, projections } = subject
  const candidates = comparedColumns(subject).filter(
    ({ name, kinds }) =>
      !kinds.includes('text') && !projections.some(({ definition }) => definition?.endsWith(` ORDER BY ${name}`)),
  )
  return candidates.map(({ name, sql, condition }) => ({
    kind: 'projection',
    purpose: `projection ${name}`,
    title: `A projection ordered by ${name}`,
    rationale: `The statement filters by ${name}, which does not lead the order of the table. In a projection that it leads, matching rows lie side by side.`,
    ddl: ddlOf(read.sql, `by_${name}`, `SELECT ${stored(subject).join(', ')} ORDER BY ${sql}`),
    rewritten: null,
    tellsValues: false,
    risk,
    test: {
      by: 'matches',
      condition,
      // In each part the matching rows begin and end within a granule.
      savings: ({ matchingRows }) =>
        savedMarks(subject, Math.ceil(matchingRows / rowsPerMark(subject)) + overview.parts),
    },
  }))
}

/** Whole columns, also where the statement reads a part of one. */
const stored = ({ read, columns }: Subject): string[] => [
  ...new Set(
    read.columns.map(({ name, sql }) => {
      const whole = columnNamed(columns, name)?.name ?? name
      return read.columns.find((each) => each.name === whole)?.sql ?? sql.split('.')[0] ?? sql
    }),
  ),
]

/** Fewer rows to a group than these make sums not worth keeping. */
const leastRowsPerGroup = 10

const grouped = (subject: Subject): Proposal[] => {
  const { read, projections } = subject
  if (!read.grouping || projections.some(({ definition }) => definition?.includes(' GROUP BY '))) return []
  const filtered = new Set(read.conditions.flatMap(({ columns }) => columns))
  const filters = read.columns.filter(({ name }) => filtered.has(name)).map(({ sql }) => sql)
  const keys = [...new Set([...read.grouping.keys, ...filters])]
  if (keys.length === 0) return []
  const select = `SELECT ${[...keys, ...read.grouping.aggregates].join(', ')} GROUP BY ${keys.join(', ')}`
  return [
    {
      kind: 'projection',
      purpose: 'projection of groups',
      title: 'A projection that keeps what is computed for each group',
      rationale:
        'The statement reads many rows of each group in order to tell little of it. A projection keeps what is told, computed for each part.',
      ddl: ddlOf(read.sql, 'grouped', select),
      rewritten: null,
      tellsValues: read.grouping.hasValues,
      risk,
      test: {
        by: 'groups',
        keys,
        condition: null,
        savings: ({ groups }) => {
          const { rows, parts } = subject.overview
          if (groups * leastRowsPerGroup > (rows ?? 0)) return null
          // Each part may have all of the groups.
          return savedMarks(subject, Math.ceil(groups / rowsPerMark(subject)) * Math.max(1, parts))
        },
      },
    },
  ]
}

const ddlOf = (table: string, wish: string, select: string): string => {
  const name = wish.replace(/\W/g, '_')
  return `ALTER TABLE ${table} ADD PROJECTION ${name} (${select});\nALTER TABLE ${table} MATERIALIZE PROJECTION ${name}`
}
