import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { findRouteAssets, type Manifest } from './route-closure.ts'
import { routes } from './routes.ts'

const web = fileURLToPath(new URL('..', import.meta.url))
const kib = 1024

/** Maximum compressed size of the scripts of a first visit, in bytes: for any route, and for common start pages. */
const maxScriptBytes = 250 * kib
const maxBytesOf: Record<string, number> = { '/overview': 145 * kib, '/hosts': 147 * kib, '/fleet': 147 * kib }
const maxStyleBytes = 15 * kib

const manifestPath = `${web}.svelte-kit/output/client/.vite/manifest.json`
const built = (file: string) => `${web}build/${file}`

/** Returns whether a file contains Zod. The property `_zod` occurs only in its schemas. */
const hasSchemas = (file: string): boolean => readFileSync(built(file), 'utf8').includes('_zod')

const gzipSize = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(built(file)), { level: 9 }).length, 0)

describe('web build', () => {
  it('exists with a matching manifest', () => {
    expect(existsSync(manifestPath), 'run `npm run build -w web` first').toBe(true)
    const start =
      findRouteAssets(readManifest(), '/overview').scripts.find((file) => file.includes('entry/start')) ?? 'no start'
    expect(readFileSync(built('index.html'), 'utf8')).toContain(start)
  })

  it.each(routes)('loads %s within its size budget', (route) => {
    const { scripts, styles } = findRouteAssets(readManifest(), route)
    const loaded = new Set([...scripts, ...preloaded()])
    const size = { script: gzipSize(loaded), style: gzipSize(styles) }
    // Checks minimum sizes too, because a route without files would pass any budget.
    expect(size.script).toBeGreaterThan(30 * kib)
    expect(size.style).toBeGreaterThan(kib)
    expect(size.script, 'bytes of script').toBeLessThanOrEqual(maxBytesOf[route] ?? maxScriptBytes)
    expect(size.style, 'bytes of style').toBeLessThanOrEqual(maxStyleBytes)
    expect(
      [...loaded].filter(hasSchemas),
      'files with schemas, by which the service checks its answers already',
    ).toEqual([])
  })

  it('inlines styles in the start page and does not preload modules', () => {
    const html = readFileSync(built('index.html'), 'utf8')
    const links = html.match(/<link [^>]*>/g) ?? []
    expect(html).toMatch(/<style>[^<]{1000}/)
    expect(links.filter((link) => link.includes('stylesheet') && !link.includes('disabled'))).toEqual([])
    const modules = links.filter((link) => link.includes('modulepreload'))
    expect(modules.length).toBeGreaterThan(0)
    expect(modules.filter((link) => !link.includes('fetchpriority="low"'))).toEqual([])
  })

  it('is precompressed', () => {
    for (const file of findRouteAssets(readManifest(), '/overview').scripts) {
      if (statSync(built(file)).size < kib) continue
      expect(existsSync(`${built(file)}.br`) && existsSync(`${built(file)}.gz`), file).toBe(true)
    }
  })
})

/** Returns the scripts that the start page preloads on every route. */
const preloaded = (): string[] =>
  [...readFileSync(built('index.html'), 'utf8').matchAll(/href="\/(_app\/[^"]+\.js)"/g)].map(([, file = '']) => file)

const readManifest = (): Manifest => JSON.parse(readFileSync(manifestPath, 'utf8'))
