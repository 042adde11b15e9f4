/** A block of SQL in a skill. */
export interface SkillStatement {
  /** Where it stands in the file, from 1. */
  line: number
  sql: string
  /** Why readers may not run it as it stands; undefined when they may. */
  cannotRun: string | undefined
}

/** Parameters that a statement leaves open, as `{name:Type}`. */
export const openParameters = (sql: string): string[] => [
  ...new Set([...sql.matchAll(/\{(\w+):[^}]+\}/g)].map(([, name = '']) => name)),
]

const fence = /^```(.*)$/

/** All blocks of SQL of a text, whose first line has this number. Throws a sentence for a fence that is wrong. */
export const statementsOf = (text: string, firstLine = 1): SkillStatement[] => {
  const found: SkillStatement[] = []
  let open: { info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [, info] = fence.exec(line) ?? []
    if (info === undefined) open?.lines.push(line)
    else if (open === undefined) open = { info, line: firstLine + index, lines: [] }
    else if (info === '') {
      found.push(...statementOf(open))
      open = undefined
    } else throw new Error(`line ${firstLine + index}: a block begins inside another`)
  }
  if (open) throw new Error(`line ${open.line}: a block does not end`)
  return found
}

const statementOf = ({ info, line, lines }: { info: string; line: number; lines: readonly string[] }) => {
  const [, language, cannotRun] = /^(\w+)(?: cannot-run: (\S.*))?$/.exec(info) ?? []
  if (language === undefined) {
    throw new Error(`line ${line}: a block begins with its language, and after sql perhaps with cannot-run: and why`)
  }
  if (language !== 'sql') return []
  const sql = lines.join('\n').trim()
  if (sql === '') throw new Error(`line ${line}: there is no statement in the block`)
  return [{ line, sql, cannotRun }]
}
