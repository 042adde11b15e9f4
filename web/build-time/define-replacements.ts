import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from './client-variables.ts'

/** Returns the replacements for Vite's `define`: a JavaScript expression for each `import.meta.env.CLIENT_*`. */
export const createDefineReplacements = ({ client }: BuildInfo): Record<string, string> =>
  Object.fromEntries(Object.entries(client).map(([name, value]) => [`import.meta.env.${name}`, JSON.stringify(value)]))

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the absolute path of the documentation folder. `DOCS_CONTENT_ROOT` is relative to the repository root. */
export const resolveDocsFolder = ({ DOCS_CONTENT_ROOT: own }: Environment): string => resolve(root, own || 'web/docs')
