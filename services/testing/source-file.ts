import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ParseResult, parseSync } from 'oxc-parser'

export const root = join(import.meta.dirname, '../..')

/** One file of the repository: its path from the root, and its text. */
export interface SourceFile {
  path: string
  text: string
}

const notOurs = new Set(['node_modules', '.git', 'build', '.svelte-kit', '.watchhouse'])

/** Every file that is written by hand or generated into the repository, sorted by path. */
export const repositoryFiles = (folder = ''): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name) && !/\.log$|^\.env$/.test(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? repositoryFiles(path) : [path]
    })
    .toSorted()

export const readSource = (path: string): SourceFile => ({ path, text: readFileSync(join(root, path), 'utf8') })

export const isCode = (path: string): boolean => /\.(ts|svelte|mjs|js)$/.test(path)

/** Tests, their suites, and what only tests use: allowed to reach further, and to be longer. */
export const isTest = (path: string): boolean =>
  /\.(test|suite|e2e)\.ts$/.test(path) || /^(services\/(acceptance|testing|requirements)|web\/tests)\//.test(path)

/** The TypeScript of a file; of a component, its scripts with everything else blanked so that lines keep their numbers. */
export const parse = ({ path, text }: SourceFile): ParseResult =>
  parseSync(path.endsWith('.svelte') ? `${path}.ts` : path, path.endsWith('.svelte') ? scriptsOf(text) : text)

const scriptsOf = (component: string): string => {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ')
  let result = ''
  let end = 0
  for (const match of component.matchAll(/(<script\b[^>]*>)([\s\S]*?)<\/script>/g)) {
    const [, open = '', script = ''] = match
    result += blank(component.slice(end, match.index)) + blank(open) + script
    end = match.index + open.length + script.length
  }
  return result + blank(component.slice(end))
}

/** The line, from 1, that an offset lies on. */
export const lineOf = ({ text }: SourceFile, offset: number): number => text.slice(0, offset).split('\n').length

/** What a file imports, statically or when first needed. */
export const importsOf = (file: SourceFile): string[] => {
  const { staticImports, staticExports, dynamicImports } = parse(file).module
  const exported = staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? []))
  const later = dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const literal = /^['"](.*)['"]$/s.exec(scriptOf(file).slice(start, end))
    return literal?.[1] ?? []
  })
  return [...staticImports.map((one) => one.moduleRequest.value), ...exported, ...later]
}

const scriptOf = ({ path, text }: SourceFile): string => (path.endsWith('.svelte') ? scriptsOf(text) : text)
