import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Chunk {
  file: string
  name?: string
  isEntry?: boolean
  imports?: readonly string[]
  css?: readonly string[]
}

/** The manifest of a Vite build: chunks with their static imports, by source file. */
export type Manifest = Readonly<Record<string, Chunk>>

const web = fileURLToPath(new URL('..', import.meta.url))

/** Names of the chunks of the layout and the error page, which are loaded with every page. */
const sharedChunks = new Set(['nodes/0', 'nodes/1'])

/** Returns the scripts and styles that the browser loads before it renders a page of this route. */
export const findRouteAssets = (manifest: Manifest, route: string): { scripts: string[]; styles: string[] } => {
  const entries = Object.entries(manifest).filter(([key, { isEntry, name = '' }]) => {
    if (!isEntry) return false
    return name.startsWith('entry/') || sharedChunks.has(name) || isPageOf(key, route)
  })
  const [scripts, styles] = [new Set<string>(), new Set<string>()]
  const visit = (chunk: Chunk) => {
    if (scripts.has(chunk.file)) return
    scripts.add(chunk.file)
    for (const style of chunk.css ?? []) styles.add(style)
    for (const name of chunk.imports ?? []) visit(getChunk(manifest, name))
  }
  for (const [, chunk] of entries) visit(chunk)
  if (!entries.some(([key]) => isPageOf(key, route))) throw new Error(`the build has no page for the route "${route}"`)
  return { scripts: [...scripts], styles: [...styles] }
}

/** Returns whether a chunk is the page of a route. */
const isPageOf = (key: string, route: string): boolean =>
  key.includes('/nodes/') && readFileSync(`${web}${key}`, 'utf8').includes(`src/routes${route}/+page.svelte`)

const getChunk = (manifest: Manifest, name: string): Chunk => {
  const chunk = manifest[name]
  if (!chunk) throw new Error(`invalid manifest: the imported chunk "${name}" is missing`)
  return chunk
}
