import { type CallExpression, type Expression, Visitor } from 'oxc-parser'
import { parseSource, type SourceFile } from '../testing/source-file.ts'

/** Functions that group tests, with the position of the title among their arguments. */
const groups: Readonly<Record<string, number>> = { describe: 0, describeOnTopologies: 0, describeWith: 1 }
const tests = new Set(['it', 'test'])

/**
 * Returns the full titles of all tests in a file: the titles of the groups and of the test, joined by ` > `. `%s`
 * replaces expressions in template literals.
 */
export const listTestTitles = (file: SourceFile): string[] => {
  const path: string[] = []
  const found: string[] = []
  new Visitor({
    CallExpression: (call) => {
      const title = titleOf(call)
      if (title === undefined) return
      path.push(title)
      if (tests.has(nameOf(call.callee) ?? '')) found.push(path.join(' > '))
    },
    'CallExpression:exit': (call) => {
      if (titleOf(call) !== undefined) path.pop()
    },
  }).visit(parseSource(file).program)
  return found
}

/**
 * Returns the title if a call declares a test or group: `it(title, …)`, `it.each(rows)(title, …)`, `describeWith(needs,
 * title, …)`.
 */
const titleOf = ({ callee, arguments: args }: CallExpression): string | undefined => {
  const name = nameOf(callee)
  if (name === undefined || args.length < 2) return undefined
  const title = args[groups[name] ?? 0]
  if (title?.type === 'Literal' && typeof title.value === 'string') return title.value
  if (title?.type === 'TemplateLiteral') return title.quasis.map(({ value }) => value.cooked).join('%s')
  return undefined
}

/** Accepted modifiers such as `it.each`. `skip` is not among them, because skipped tests do not count. */
const modifiers = new Set(['each', 'for', 'concurrent', 'skipIf', 'runIf'])

/** Returns the name of the declaring function, without `.each(rows)`, `.for(rows)` and similar modifiers. */
const nameOf = (callee: Expression): string | undefined => {
  if (callee.type === 'Identifier') return callee.name in groups || tests.has(callee.name) ? callee.name : undefined
  if (callee.type === 'CallExpression')
    return callee.callee.type === 'MemberExpression' ? nameOf(callee.callee) : undefined
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return undefined
  return callee.property.type === 'Identifier' && modifiers.has(callee.property.name)
    ? nameOf(callee.object)
    : undefined
}
