import { type Node, Visitor } from 'oxc-parser'
import {
  isCodeFile,
  isTestFile,
  parseSource,
  readSource,
  listRepositoryFiles,
  type SourceFile,
} from '../testing/source-file.ts'

/** Returns the source files of the product that may read variables, without tests, test helpers and set-up. */
export const readProductFiles = (): SourceFile[] =>
  listRepositoryFiles()
    .filter((path) => /^(proto|services|web)\//.test(path) && isCodeFile(path) && !isTestFile(path))
    .filter((path) => !/\/(fake|testing|bench|evaluation)\/|^services\/set-up\.mjs$/.test(path))
    .map(readSource)
    .filter(({ text }) => /[A-Z]_[A-Z]|\b(HOST|PORT)\b/.test(text))

const variable = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^(?:HOST|PORT)$/

/**
 * Returns the variables that a file reads by destructuring, by property access, or by a name built from a prefix. The
 * declaration of a setting does not count as reading.
 */
export const findVariableReads = (file: SourceFile): string[] => {
  const found = new Set<string>()
  const keep = (name: unknown) => {
    if (typeof name === 'string' && variable.test(name)) found.add(name)
  }
  new Visitor({
    MemberExpression: ({ property }) => keep(nameOf(property)),
    ObjectPattern: ({ properties }) => {
      for (const property of properties) if (property.type === 'Property') keep(nameOf(property.key))
    },
    Literal: (literal) => {
      keep(literal.value)
      // A regular expression that matches a family of variables starts with their prefix.
      if ('regex' in literal) found.add(/^\^([A-Z][A-Z0-9_]*_)\(/.exec(literal.regex.pattern)?.[1] ?? '')
    },
    TemplateElement: ({ value: { raw } }) => {
      if (/^[A-Z][A-Z0-9_]*_$/.test(raw)) found.add(raw)
    },
  }).visit(parseSource(file).program)
  if (file.path.endsWith('.svelte')) for (const name of findClientVariables(file.text)) found.add(name)
  found.delete('')
  return [...found]
}

const nameOf = (node: Node): unknown =>
  node.type === 'Identifier' ? node.name : node.type === 'Literal' ? node.value : undefined

/** Returns the `CLIENT_*` variables that the markup of a component reads. */
const findClientVariables = (text: string): string[] =>
  [...text.matchAll(/import\.meta\.env\.(?<name>CLIENT_[A-Z0-9_]+)/g)].flatMap(({ groups }) => groups?.name ?? [])

/** Returns the variable names of setting records that are read as a whole with `parseSettings(record, env)`, by record. */
export const findSettingRecordReads = (files: readonly SourceFile[]): Map<string, readonly string[]> => {
  const isRead = new Set(
    files.flatMap(({ text }) =>
      [...text.matchAll(/\bparseSettings\((?<record>\w+),/g)].map(({ groups }) => groups?.record),
    ),
  )
  const records = new Map<string, readonly string[]>()
  for (const file of files.filter(({ text }) => /const \w+(?:Settings|Bindings) = \{/.test(text))) {
    new Visitor({
      VariableDeclarator: ({ id, init }) => {
        const value = init?.type === 'TSAsExpression' ? init.expression : init
        if (id.type === 'Identifier' && value?.type === 'ObjectExpression' && isRead.has(id.name)) {
          const own = value.properties.flatMap((one) => (one.type === 'Property' ? nameOf(one.key) : undefined))
          records.set(
            id.name,
            own.filter((name) => typeof name === 'string'),
          )
        }
      },
    }).visit(parseSource(file).program)
  }
  return records
}
