import { type Proposal, allOf, bytesPerMark, sortingColumns, type Subject } from '../subject.ts'

/**
 * A filter before the other columns are read, where the host does not do so by itself. Under FINAL it may only be by the
 * sorting key: rows that replace one another agree in it, so all of them stay or go.
 */
export const prewhere = (subject: Subject): Proposal[] => {
  const { read } = subject
  const keys = sortingColumns(subject)
  const usable = read.conditions.filter(
    ({ columns }) => !read.isFinal || columns.every((column) => keys.includes(column)),
  )
  const condition = allOf(usable)
  const rewritten = rewrite(subject, condition)
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
      rationale: `${reasonOf(subject)} With PREWHERE the other columns are read only in granules with a match.`,
      ddl: null,
      rewritten,
      tellsValues: true,
      risk: 'None for the answer, as the WHERE stays as it is.',
      test: {
        by: 'matches',
        condition,
        savings: ({ matchingGranules }) => {
          const after = Math.min(matchingGranules, read.marks)
          const bytesFirst = read.marks * bytesPerMark(subject, [...first])
          return {
            marksBefore: read.marks,
            marksAfter: after,
            bytesBefore: Math.round(bytesFirst + read.marks * bytesPerMark(subject, rest)),
            bytesAfter: Math.round(bytesFirst + after * bytesPerMark(subject, rest)),
          }
        },
      },
    },
  ]
}

const reasonOf = ({ read }: Subject): string =>
  read.isFinal
    ? 'Under FINAL the host does not move conditions before the reading by itself.'
    : 'The host does not move the conditions of this statement before the reading, as its user is configured.'

/** Clauses of the outermost SELECT begin their lines; whatever is nested is indented, and texts have no line breaks. */
const rewrite = ({ read, statement: { formatted } }: Subject, condition: string): string | null => {
  const lines = formatted?.split('\n') ?? []
  const clauses = lines.filter((line) => /^(?:PRE)?WHERE /.test(line))
  if (!read.isAlone || read.hasPrewhere || clauses.length !== 1) return null
  const at = lines.findIndex((line) => line.startsWith('WHERE '))
  return at < 0 ? null : lines.toSpliced(at, 0, `PREWHERE ${condition}`).join('\n')
}
