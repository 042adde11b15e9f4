import { type BindingPattern, type Class, type ParamPattern, Visitor } from 'oxc-parser'
import { type SourceFile, findLineNumber, parseSource } from '../../testing/source-file.ts'

/** A lint rule that parses a file. Returns the violations as `path:line message`. */
export type LintRule = (file: SourceFile) => string[]

/** Rejects type assertions without a comment. TypeScript does not check them, so a comment must state why they hold. */
export const requireCastComments: LintRule = (file) => {
  const { program, comments } = parseSource(file)
  const commented = new Set(comments.map((comment) => findLineNumber(file, comment.end)))
  const starts: { start: number; end: number }[] = []
  const found: string[] = []
  const enter = ({ body }: { body: readonly { start: number; end: number }[] }) => void starts.push(...body)
  new Visitor({
    Program: enter,
    BlockStatement: enter,
    TSAsExpression: ({ start, end, typeAnnotation }) => {
      if (file.text.slice(typeAnnotation.start, typeAnnotation.end) === 'const') return
      const around = starts.filter((one) => one.start <= start && end <= one.end).map((one) => one.start)
      const first = findLineNumber(file, Math.max(0, ...around)) - 1
      const count = findLineNumber(file, end) - first + 1
      const isExplained = Array.from({ length: count }, (_, index) => first + index).some((line) => commented.has(line))
      if (!isExplained)
        found.push(
          `${file.path}:${findLineNumber(file, start)} type assertion without a comment that states why it holds`,
        )
    },
  }).visit(program)
  return found
}

const abbreviations = new Set(
  'req res cfg ctx conf err msg opts opt args arg param cb fn tmp idx len str num obj arr val evt btn el conn mgr svc svr srv'.split(
    ' ',
  ),
)

/** Rejects abbreviations as names of variables, parameters and functions. */
export const forbidAbbreviations: LintRule = (file) => {
  const found: string[] = []
  const check = (pattern: BindingPattern | ParamPattern | null) => {
    for (const { name, start } of listBindings(pattern)) {
      if (abbreviations.has(name)) found.push(`${file.path}:${findLineNumber(file, start)} ${name}`)
    }
  }
  new Visitor({
    VariableDeclarator: ({ id }) => check(id),
    CatchClause: ({ param }) => check(param),
    FunctionDeclaration: ({ id, params }) => [id, ...params].forEach(check),
    FunctionExpression: ({ params }) => params.forEach(check),
    ArrowFunctionExpression: ({ params }) => params.forEach(check),
  }).visit(parseSource(file).program)
  return found
}

const listBindings = (pattern: BindingPattern | ParamPattern | null): { name: string; start: number }[] => {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern]
    case 'ObjectPattern':
      return pattern.properties.flatMap((one) => listBindings(one.type === 'RestElement' ? one.argument : one.value))
    case 'ArrayPattern':
      return pattern.elements.flatMap((one) => listBindings(one?.type === 'RestElement' ? one.argument : one))
    case 'AssignmentPattern':
      return listBindings(pattern.left)
    case 'RestElement':
      return listBindings(pattern.argument)
    default:
      return []
  }
}

/** Rejects classes without private state and without a base class. Such code should use functions and records. */
export const forbidStatelessClasses: LintRule = (file) => {
  const found: string[] = []
  const check = ({ id, superClass, body, start }: Class) => {
    const isPrivate = body.body.some((member) => 'key' in member && member.key.type === 'PrivateIdentifier')
    if (!superClass && !isPrivate) found.push(`${file.path}:${findLineNumber(file, start)} class ${id?.name ?? ''}`)
  }
  new Visitor({ ClassDeclaration: check, ClassExpression: check }).visit(parseSource(file).program)
  return found
}

/** Rejects exports without a doc comment, except a type that is inferred from the value above it. */
export const requireExportDocs: LintRule = (file) => {
  const { program, comments } = parseSource(file)
  const ends = comments.filter((one) => one.type === 'Block' && one.value.startsWith('*')).map((one) => one.end)
  const found: string[] = []
  new Visitor({
    ExportNamedDeclaration: ({ start, declaration }) => {
      if (!declaration || /^export type \w+ = [^\n]*\btypeof /.test(file.text.slice(start))) return
      const isDocumented = ends.some((end) => end <= start && file.text.slice(end, start).trim() === '')
      if (!isDocumented)
        found.push(`${file.path}:${findLineNumber(file, start)} ${file.text.slice(start).split('\n', 1)[0]}`)
    },
  }).visit(program)
  return found
}
