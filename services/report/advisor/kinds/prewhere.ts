import {
  type Proposal,
  joinConditions,
  estimateBytesPerMark,
  listSortingColumns,
  type AdviceSubject,
} from '../advice-subject.ts'

/**
 * Proposes PREWHERE if the host does not apply it automatically. With FINAL, only conditions on the sorting key are
 * safe: all versions of a row have the same key, so PREWHERE keeps or drops all of them.
 */
export const proposePrewhere = (subject: AdviceSubject): Proposal[] => {
  const { read } = subject
  const keys = listSortingColumns(subject)
  const usable = read.conditions.filter(
    ({ columns }) => !read.isFinal || columns.every((column) => keys.includes(column)),
  )
  const condition = joinConditions(usable)
  const rewritten = addPrewhere(subject, condition)
  if (usable.length === 0 || rewritten === null) return []
  const first = new Set(usable.flatMap(({ columns }) => columns))
  const names = read.columns.map(({ name }) => name)
  const rest = names.filter((name) => !first.has(name))
  if (rest.length === 0) return []
  return [
    {
      kind: 'prewhere',
      purpose: 'prewhere',
      title: `PREWHERE by ${[...first].join(', ')}`,
      rationale: `${describeReason(subject)} With PREWHERE the other columns are read only in granules with a match.`,
      ddl: null,
      rewritten,
      includesValues: true,
      risk: 'None for the result: the WHERE clause is unchanged.',
      test: {
        by: 'matches',
        condition,
        savings: ({ matchingGranules }) => {
          const after = Math.min(matchingGranules, read.marks)
          const bytesFirst = read.marks * estimateBytesPerMark(subject, [...first])
          return {
            marksBefore: read.marks,
            marksAfter: after,
            bytesBefore: Math.round(bytesFirst + read.marks * estimateBytesPerMark(subject, rest)),
            bytesAfter: Math.round(bytesFirst + after * estimateBytesPerMark(subject, rest)),
          }
        },
      },
    },
  ]
}

const describeReason = ({ read }: AdviceSubject): string =>
  read.isFinal
    ? 'With FINAL, ClickHouse does not move conditions to PREWHERE automatically.'
    : 'With the settings of this user, ClickHouse does not move the conditions to PREWHERE automatically.'

/**
 * Adds PREWHERE to a formatted query. Returns null if that is not possible. Only clauses of the outermost SELECT begin
 * at the start of a line, because the formatter indents nested clauses and escapes line breaks in strings.
 */
const addPrewhere = ({ read, statement: { formatted } }: AdviceSubject, condition: string): string | null => {
  const lines = formatted?.split('\n') ?? []
  const clauses = lines.filter((line) => /^(?:PRE)?WHERE /.test(line))
  if (!read.isAlone || read.hasPrewhere || clauses.length !== 1) return null
  const at = lines.findIndex((line) => line.startsWith('WHERE '))
  return at < 0 ? null : lines.toSpliced(at, 0, `PREWHERE ${condition}`).join('\n')
}
