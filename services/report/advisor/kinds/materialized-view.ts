import {
  type Proposal,
  hasRowPreservingMerges,
  estimateRowsPerMark,
  estimateSavings,
  type AdviceSubject,
} from '../advice-subject.ts'

/** Minimum average number of rows per group. With fewer, the view costs more than it saves. */
const minRowsPerGroup = 100

/** Proposes a materialized view that aggregates the groups of the query on insert. */
export const proposeMaterializedViews = (subject: AdviceSubject): Proposal[] => {
  const { read, overview } = subject
  if (!read.grouping || read.isFinal || !hasRowPreservingMerges(subject) || !read.isAlone) return []
  const filtered = new Set(read.conditions.flatMap(({ columns }) => columns))
  const filters = read.columns.filter(({ name }) => filtered.has(name)).map(({ sql }) => sql)
  const keys = [...new Set([...read.grouping.keys, ...filters])]
  const states = read.grouping.aggregates.map(toStateFunction)
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
      title: 'Materialized view with pre-aggregated groups',
      rationale:
        'The query reads many rows per group and returns few. A materialized view aggregates rows on insert; the query then reads the view with -Merge combinators.',
      ddl: `CREATE MATERIALIZED VIEW ${view} ENGINE = AggregatingMergeTree ORDER BY (${keys.map((_, index) => `key_${index + 1}`).join(', ')}) SETTINGS allow_nullable_key = 1 AS ${select};\nINSERT INTO ${view} ${select}`,
      rewritten: null,
      includesValues: read.grouping.hasValues,
      risk: 'Every insert also writes the view; updates and deletes of rows do not reach it. Rows inserted between both queries are counted twice. Revert with DROP VIEW.',
      test: {
        by: 'groups',
        keys,
        condition: null,
        savings: ({ groups }) =>
          groups * minRowsPerGroup > (overview.rows ?? 0)
            ? null
            : estimateSavings(subject, Math.ceil(groups / estimateRowsPerMark(subject))),
      },
    },
  ]
}

/** Returns the `-State` form of an aggregate function call: `maxState(x)` for `max(x)`. Undefined for anything else. */
const toStateFunction = (aggregate: string): string | undefined => {
  const [, name, rest] = /^([A-Za-z]\w*)(\(.*\))$/s.exec(aggregate) ?? []
  return name === undefined || rest === undefined ? undefined : `${name}State${rest}`
}
