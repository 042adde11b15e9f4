import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from './client-variables.ts'

/** What stands in the bundle in place of each variable: its value, as JavaScript writes it. */
export const inlined = ({ client }: BuildFacts): Record<string, string> =>
  Object.fromEntries(Object.entries(client).map(([name, value]) => [`import.meta.env.${name}`, JSON.stringify(value)]))

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where the texts of the documentation lie; an installation may bring its own, seen from the root of the product. */
export const docsFolder = ({ DOCS_CONTENT_ROOT: own }: Environment): string => resolve(root, own || 'web/docs')
