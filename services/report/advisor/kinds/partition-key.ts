import { type Proposal, allOf, keepsRows, rowsPerMark, savedMarks, sortingColumns, type Subject } from '../subject.ts'

/** One insert may by default have no more (`max_partitions_per_insert_block`); and each should have granules to leave out. */
const mostPartitions = 100
const leastMarks = 10

/** Months as partitions, for a table that has none and is filtered by time. */
export const partitionKey = (subject: Subject): Proposal[] => {
  const { read, overview, columns } = subject
  if (overview.partitionKey !== '' || !keepsRows(subject)) return []
  const [leading] = sortingColumns(subject)
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
        rationale: `The table has no partitions, and the statement filters by ${name}. Months that its conditions rule out would not be read.`,
        ddl: ddlOf(subject, key),
        rewritten: null,
        tellsValues: false,
        risk: 'A partition key cannot be changed: the table is copied, and rows that are inserted meanwhile are missing from the copy. Every partition has parts of its own, so inserts of many months make many parts.',
        test: {
          by: 'groups',
          keys: [key],
          condition: allOf(conditions),
          savings: ({ groups, matchingRows }) => {
            const marks = overview.marks / Math.max(1, groups)
            if (groups < 2 || groups > mostPartitions || marks < leastMarks) return null
            return savedMarks(subject, Math.ceil(matchingRows / rowsPerMark(subject)))
          },
        },
      },
    ]
  })
}

const ddlOf = ({ read, overview }: Subject, key: string): string => {
  const copy = `${read.sql.slice(0, -1)}_partitioned\``
  // The clauses of an engine follow each other in this order: PARTITION BY, PRIMARY KEY, ORDER BY.
  const engine = overview.engineFull.replace(/ (?=PRIMARY KEY |ORDER BY )/, ` PARTITION BY ${key} `)
  return [
    `CREATE TABLE ${copy} AS ${read.sql} ENGINE = ${engine}`,
    `INSERT INTO ${copy} SELECT * FROM ${read.sql}`,
    `EXCHANGE TABLES ${copy} AND ${read.sql}`,
  ].join(';\n')
}
