import {
  type Proposal,
  findColumnNamed,
  listComparedColumns,
  hasRowPreservingMerges,
  estimateRowsPerMark,
  estimateSavings,
  type AdviceSubject,
} from '../advice-subject.ts'

/** Proposes projections that sort the rows for a condition or pre-aggregate the groups of the query. */
export const proposeProjections = (subject: AdviceSubject): Proposal[] =>
  hasRowPreservingMerges(subject) && !subject.read.isFinal
    ? [...proposeOrderedProjections(subject), ...proposeGroupedProjections(subject)]
    : []

const projectionRisk =
  'Its data is stored again, every insert also writes it, and MATERIALIZE PROJECTION reads the whole table once as a mutation. Revert with DROP PROJECTION.'

const proposeOrderedProjections = (subject: AdviceSubject): Proposal[] => {
  const { read, overview, projections } = subject
  const candidates = listComparedColumns(subject).filter(
    ({ name, kinds }) =>
      !kinds.includes('text') && !projections.some(({ definition }) => definition?.endsWith(` ORDER BY ${name}`)),
  )
  return candidates.map(({ name, sql, condition }) => ({
    kind: 'projection',
    purpose: `projection ${name}`,
    title: `A projection ordered by ${name}`,
    rationale: `The query filters by ${name}, which is not the first column of the sorting key. In a projection ordered by it, matching rows are stored together.`,
    ddl: formatDdl(read.sql, `by_${name}`, `SELECT ${listProjectedColumns(subject).join(', ')} ORDER BY ${sql}`),
    rewritten: null,
    includesValues: false,
    risk: projectionRisk,
    test: {
      by: 'matches',
      condition,
      // Matching rows rarely align with granules, which adds about one granule per part.
      savings: ({ matchingRows }) =>
        estimateSavings(subject, Math.ceil(matchingRows / estimateRowsPerMark(subject)) + overview.parts),
    },
  }))
}

/** Returns the columns of the projection. A subcolumn is stored as its whole column. */
const listProjectedColumns = ({ read, columns }: AdviceSubject): string[] => [
  ...new Set(
    read.columns.map(({ name, sql }) => {
      const whole = findColumnNamed(columns, name)?.name ?? name
      return read.columns.find((each) => each.name === whole)?.sql ?? sql.split('.')[0] ?? sql
    }),
  ),
]

/** Minimum average number of rows per group. With fewer, the projection costs more than it saves. */
const minRowsPerGroup = 10

const proposeGroupedProjections = (subject: AdviceSubject): Proposal[] => {
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
      title: 'Projection with pre-aggregated groups',
      rationale:
        'The query reads many rows per group and returns few. A projection stores the aggregates for each part.',
      ddl: formatDdl(read.sql, 'grouped', select),
      rewritten: null,
      includesValues: read.grouping.hasValues,
      risk: projectionRisk,
      test: {
        by: 'groups',
        keys,
        condition: null,
        savings: ({ groups }) => {
          const { rows, parts } = subject.overview
          if (groups * minRowsPerGroup > (rows ?? 0)) return null
          // Each part can contain all groups.
          return estimateSavings(subject, Math.ceil(groups / estimateRowsPerMark(subject)) * Math.max(1, parts))
        },
      },
    },
  ]
}

const formatDdl = (table: string, proposedName: string, select: string): string => {
  const name = proposedName.replace(/\W/g, '_')
  return `ALTER TABLE ${table} ADD PROJECTION ${name} (${select});\nALTER TABLE ${table} MATERIALIZE PROJECTION ${name}`
}
