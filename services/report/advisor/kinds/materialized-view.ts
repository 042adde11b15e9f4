import { type Proposal, keepsRows, rowsPerMark, savedMarks, type Subject } from '../subject.ts'

/** Fewer rows to a group than these make a view not worth keeping. */
const leastRowsPerGroup = 100

/** A table of its own that keeps what is told of each group as rows are inserted. Merged, it has each group once. */
export const materializedView = (subject: Subject): Proposal[] => {
  const { read, overview } = subject
  if (!read.grouping || read.isFinal || !keepsRows(subject) || !read.isAlone) return []
  const filtered = new Set(read.conditions.flatMap(({ columns }) => columns))
  const filters = read.columns.filter(({ name }) => filtered.has(name)).map(({ sql }) => sql)
  const keys = [...new Set([...read.grouping.keys, ...filters])]
  const states = read.grouping.aggregates.map(stateOf)
  if (keys.length === 0 || states.some((state) => state === undefined)) return []
  const named = [
    ...keys.map((key, index) => `${key} AS key_${index + 1}`),
    ...states.map((state, index) => `${state} AS state_${index + 1}`),
  ]
  const view = `${read.sql.slice(0, -1)}_groups\``
  const select = `SELECT ${named.join(', ')} FROM ${read.sql} GROUP BY ${keys.map((_, index) => `key_${index + 1}`).join(', ')}`
  return [
    {
      kind: 'materialized-view',
      purpose: 'materialized view of groups',
      title: 'A materialized view that keeps what is computed for each group',
      rationale:
        'The statement reads many rows of each group in order to tell little of it. A view computes that as rows are inserted; the statement would read the view, with -Merge around each state.',
      ddl: `CREATE MATERIALIZED VIEW ${view} ENGINE = AggregatingMergeTree ORDER BY (${keys.map((_, index) => `key_${index + 1}`).join(', ')}) SETTINGS allow_nullable_key = 1 AS ${select};\nINSERT INTO ${view} ${select}`,
      rewritten: null,
      tellsValues: read.grouping.hasValues,
      risk: 'Every insert computes it too, and changes or removals of rows do not reach it. Rows that are inserted between both statements are counted twice. DROP VIEW takes it back.',
      test: {
        by: 'groups',
        keys,
        condition: null,
        savings: ({ groups }) =>
          groups * leastRowsPerGroup > (overview.rows ?? 0)
            ? null
            : savedMarks(subject, Math.ceil(groups / rowsPerMark(subject))),
      },
    },
  ]
}

/** An aggregate as the state of it: `max(x)` as `maxState(x)`; undefined for one whose name is not plain. */
const stateOf = (aggregate: string): string | undefined => {
  const [, name, rest] = /^([A-Za-z]\w*)(\(.*\))$/s.exec(aggregate) ?? []
  return name === undefined || rest === undefined ? undefined : `${name}State${rest}`
}
