import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import attacks from './attacks/vitest.config.ts'
import faults from './faults/vitest.config.ts'
import { isCodeFile, isTestFile, readSource, listRepositoryFiles } from '../testing/source-file.ts'

const files = listRepositoryFiles()

/** Returns the names in a folder that are neither expected nor hidden. */
const unexpected = (paths: readonly string[], folder: string, expected: string): string[] => {
  const names = new Set(expected.split(' '))
  const inside = paths
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length).split('/')[0] ?? '')
  return [...new Set(inside)].filter((name) => !name.startsWith('.') && !names.has(name))
}

/** Returns the lines that match a pattern, as `path:line`. */
const matching = (paths: readonly string[], pattern: RegExp): string[] =>
  paths.map(readSource).flatMap(({ path, text }) => {
    if (!pattern.test(text)) return []
    return text.split('\n').flatMap((line, index) => (pattern.test(line) ? `${path}:${index + 1}` : []))
  })

/** Expands the first pair of braces in a glob pattern. */
const alternatives = (pattern: string): string[] => {
  const [before = '', texts, after = ''] = pattern.split(/[{}]/)
  return texts === undefined ? [before] : texts.split(',').map((text) => before + text + after)
}

describe('the tree', () => {
  const top =
    'README.md CHANGELOG.md LICENSE package.json package-lock.json tsconfig.json Tiltfile proto services charts skills web helm k8s release'
  const services =
    'README.md main.ts bundle.ts generate.ts set-up.mjs vitest.config.ts Dockerfile gateway query mcp agent alert-dispatcher ingest report client cli sandbox shared testing generate requirements acceptance bench'

  it('has only the listed names at the top level', () => {
    expect(unexpected([...files, 'docs/a.md', 'jest.config.js'], '', top)).toEqual(['docs', 'jest.config.js'])
    expect(unexpected(files, '', top)).toEqual([])
  })

  it('has only the listed folders in services/', () => {
    expect(unexpected([...files, 'services/common/a.ts'], 'services/', services)).toEqual(['common'])
    expect(unexpected(files, 'services/', services)).toEqual([])
  })

  it('has no loose files in the shared code', () => {
    const loose = (paths: readonly string[]) => paths.filter((path) => /^services\/shared\/[^/]+$/.test(path))
    expect(loose(['services/shared/clock.ts', 'services/shared/time/clock.ts'])).toEqual(['services/shared/clock.ts'])
    expect(loose(files)).toEqual([])
  })

  it('has no meaningless file or folder names', () => {
    const hides = /(^|\/)(utils?|helpers?|common|misc|types|lib)(\.(ts|js|mjs|svelte))?(\/|$)/
    const vague = (paths: readonly string[]) => paths.filter((path) => hides.test(path.replace(/^web\/src\/lib\//, '')))
    expect(vague(['services/query/utils.ts', 'services/lib/a.ts', 'web/src/lib/chart/line.svelte'])).toHaveLength(2)
    expect(vague(files)).toEqual([])
  })

  it('has an index only as the list of a folder of alternatives', () => {
    const lists = files.filter((path) => path.endsWith('/index.ts')).map(readSource)
    expect(lists.filter(({ text }) => !/^import /m.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('has one file of plain JavaScript', () => {
    const scripts = (paths: readonly string[]) =>
      paths.filter((path) => /\.[cm]?js$/.test(path) && !path.startsWith('web/static/'))
    expect(scripts([...files, 'web/svelte.config.js'])).toContain('web/svelte.config.js')
    expect(scripts(files)).toEqual(['services/set-up.mjs'])
  })
})

describe('forbidden content', () => {
  const product = files.filter((path) => path.startsWith('services/') && isCodeFile(path) && !isTestFile(path))

  it('leaves a process only by leaving its scope', () => {
    const pattern = /process\.(exit|abort|reallyExit)\(/
    expect(pattern.test('process.exit(1)')).toBe(true)
    expect(matching(product, pattern)).toEqual([])
  })

  it('calls out only through services/shared/net, which guards every address, and the client for users', () => {
    const pattern = /(?<![.\w#'"`])fetch\(/
    const free = /^services\/(shared\/net|client|cli\/mcp|sandbox|bench)\//
    expect(['await fetch(url)', 'query.fetch(url)', 'prefetch(url)'].map((line) => pattern.test(line))).toEqual([
      true,
      false,
      false,
    ])
    expect(
      matching(
        product.filter((path) => !free.test(path)),
        pattern,
      ),
    ).toEqual([])
  })

  it('declares metrics in one place', () => {
    const pattern = /new (Counter|Gauge|Histogram|Summary)\b/
    expect(pattern.test("new Counter({ name: 'a' })")).toBe(true)
    const elsewhere = product.filter((path) => !/^services\/(shared\/telemetry\/metrics\.ts$|bench\/)/.test(path))
    expect(matching(elsewhere, pattern)).toEqual([])
  })

  it('names no directory of a developer machine', () => {
    const pattern = /\/(home|Users|root|work)\/\w/
    expect(pattern.test(['', 'home', 'developer', 'watchhouse'].join('/'))).toBe(true)
    expect(
      matching(
        files.filter((path) => !/\.(png|ico|woff2)$/.test(path)),
        pattern,
      ),
    ).toEqual([])
  })

  it('has every file that the commands for attacks and faults name', () => {
    const named = [attacks, faults].flatMap(({ test }) => test?.include ?? []).flatMap(alternatives)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((pattern) => globSync(pattern).length === 0)).toEqual([])
  })

  it('locks packages without naming a registry', () => {
    const pattern = /"resolved": "(https?|git)/
    expect(pattern.test('"resolved": "https://registry.example.com/zod.tgz"')).toBe(true)
    expect(matching(['package-lock.json'], pattern)).toEqual([])
  })
})
