import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ParseResult, parseSync } from 'oxc-parser'

export const root = join(import.meta.dirname, '../..')

/** A file of the repository. The path is relative to the root. */
export interface SourceFile {
  path: string
  text: string
}

const ignoredFolders = new Set(['node_modules', '.git', 'build', '.svelte-kit', '.watchhouse'])

/** Returns the paths of all files of the repository, without dependencies and build results. */
export const listRepositoryFiles = (folder = ''): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !ignoredFolders.has(entry.name) && !/\.log$|^\.env$/.test(entry.name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? listRepositoryFiles(path) : [path]
    })
    .toSorted()

export const readSource = (path: string): SourceFile => ({ path, text: readFileSync(join(root, path), 'utf8') })

export const isCodeFile = (path: string): boolean => /\.(ts|svelte|mjs|js)$/.test(path)

/** Returns whether a file is a test or is only used by tests. Fewer lint rules apply to these files. */
export const isTestFile = (path: string): boolean =>
  /\.(test|suite|e2e)\.ts$/.test(path) || /^(services\/(acceptance|testing|requirements)|web\/tests)\//.test(path)

/** Parses a file. In a Svelte component, all text outside scripts is blanked, so that line numbers stay the same. */
export const parseSource = ({ path, text }: SourceFile): ParseResult =>
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

/** Returns the line number of an offset, starting at 1. */
export const findLineNumber = ({ text }: SourceFile, offset: number): number => text.slice(0, offset).split('\n').length

/** Returns the module specifiers of all static and dynamic imports of a file. */
export const listImports = (file: SourceFile): string[] => {
  const { staticImports, staticExports, dynamicImports } = parseSource(file).module
  const exported = staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? []))
  const later = dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const literal = /^['"](.*)['"]$/s.exec(scriptOf(file).slice(start, end))
    return literal?.[1] ?? []
  })
  return [...staticImports.map((one) => one.moduleRequest.value), ...exported, ...later]
}

const scriptOf = ({ path, text }: SourceFile): string => (path.endsWith('.svelte') ? scriptsOf(text) : text)
