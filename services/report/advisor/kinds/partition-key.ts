import {
  type Proposal,
  joinConditions,
  hasRowPreservingMerges,
  estimateRowsPerMark,
  estimateSavings,
  listSortingColumns,
  type AdviceSubject,
} from '../advice-subject.ts'

/** Maximum number of partitions: the default of `max_partitions_per_insert_block`. */
const maxPartitions = 100
/** Minimum number of granules per partition. Smaller partitions save too little. */
const minMarks = 10

/** Proposes monthly partitions for an unpartitioned table that is filtered by time. */
export const proposePartitionKeys = (subject: AdviceSubject): Proposal[] => {
  const { read, overview, columns } = subject
  if (overview.partitionKey !== '' || !hasRowPreservingMerges(subject)) return []
  const [leading] = listSortingColumns(subject)
  const times = columns.filter(({ name, type }) => type.startsWith('Date') && name !== leading)
  return times.flatMap(({ name }): Proposal[] => {
    const by = read.columns.find((column) => column.name === name)
    const conditions = read.conditions.filter((condition) => condition.columns.every((column) => column === name))
    if (!by || conditions.length === 0) return []
    const key = `toYYYYMM(${by.sql})`
    return [
      {
        kind: 'partition-key',
        purpose: `partition-key ${name}`,
        title: `Partitions by the month of ${name}`,
        rationale: `The table is not partitioned, and the query filters by ${name}. Partitions of other months would not be read.`,
        ddl: formatDdl(subject, key),
        rewritten: null,
        includesValues: false,
        risk: 'A partition key cannot be changed: the table is copied, and rows inserted meanwhile are missing from the copy. Each partition has its own parts, so inserts that span many months create many parts.',
        test: {
          by: 'groups',
          keys: [key],
          condition: joinConditions(conditions),
          savings: ({ groups, matchingRows }) => {
            const marks = overview.marks / Math.max(1, groups)
            if (groups < 2 || groups > maxPartitions || marks < minMarks) return null
            return estimateSavings(subject, Math.ceil(matchingRows / estimateRowsPerMark(subject)))
          },
        },
      },
    ]
  })
}

const formatDdl = ({ read, overview }: AdviceSubject, key: string): string => {
  const copy = `${read.sql.slice(0, -1)}_partitioned\``
  // The engine clauses have a fixed order: PARTITION BY, PRIMARY KEY, ORDER BY.
  const engine = overview.engineFull.replace(/ (?=PRIMARY KEY |ORDER BY )/, ` PARTITION BY ${key} `)
  return [
    `CREATE TABLE ${copy} AS ${read.sql} ENGINE = ${engine}`,
    `INSERT INTO ${copy} SELECT * FROM ${read.sql}`,
    `EXCHANGE TABLES ${copy} AND ${read.sql}`,
  ].join(';\n')
}
