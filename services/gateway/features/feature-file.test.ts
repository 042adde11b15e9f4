import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problems } from '../config.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { readFeatureFile } from './policy.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'features-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const writeFile = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const readFile = (path: string, env: Record<string, string> = {}) => {
  const warned: unknown[] = []
  const log = pino({ base: null }, { write: (line) => warned.push(JSON.parse(line)) })
  return { permissions: readFeatureFile({ ...env, SVC_CONFIG_FILE: path }, log), warned }
}

const toml = `
title = "ours"
[features]
docs = false
[features.agent]
access = "authenticated"
[features.ACTIONS]
enabled = false
`
const yaml = `
features:
  docs: false
  agent: { access: authenticated }
  ACTIONS: { enabled: off }
`
const permissions = { DOCS: { enabled: false }, AGENT: { access: 'authenticated' }, ACTIONS: { enabled: false } }

describe('the configuration file', () => {
  it.each([
    ['features.toml', toml],
    ['features.yaml', yaml],
    ['features.YML', yaml],
    [
      'features.yml',
      JSON.stringify({ features: { docs: false, agent: { access: 'authenticated' }, actions: { enabled: 'no' } } }),
    ],
  ])('%s sets the permissions of the features it names', (name, text) => {
    expect(readFile(writeFile(name, text))).toEqual({ permissions, warned: [] })
  })

  it.each([
    ['empty.yaml', ''],
    ['empty.toml', ''],
    ['other.yaml', 'title: ours'],
  ])('%s may omit features', (name, text) => {
    expect(readFile(writeFile(name, text))).toEqual({ permissions: {}, warned: [] })
  })

  it('skips invalid entries with a warning for each and applies the others', () => {
    const text = `
features:
  agents: { enabled: false }
  constructor: false
  mcp: 3
  docs: { enabled: perhaps, access: authenticated }
  about: { access: everyone, enabled: false, order: 1 }
`
    const { permissions, warned } = readFile(writeFile('odd.yaml', text))
    expect(permissions).toEqual({ DOCS: { access: 'authenticated' }, ABOUT: { enabled: false } })
    expect(warned).toMatchObject(
      [
        ['agents', 'unknown feature'],
        ['constructor', 'unknown feature'],
        ['mcp', 'must be a table with enabled or access'],
        ['docs.enabled', 'must be true or false'],
        ['about.access', 'must be public, guest or authenticated'],
        ['about.order', 'is unknown; allowed: enabled, access'],
      ].map(([entry, reason]) => ({ level: 40, entry, reason, msg: 'entry of SVC_CONFIG_FILE skipped' })),
    )
  })

  it.each([
    ['missing.yaml', undefined, 'cannot be read'],
    ['broken.toml', '[features', 'is not valid TOML'],
    ['broken.yaml', 'features: [', 'is not valid YAML'],
    ['list.yaml', 'features: [agent]', 'in which "features" is a table'],
    ['text.yaml', 'agent', 'in which "features" is a table'],
    ['features.json', '{}', 'ends in .toml, .yaml or .yml'],
  ])('prevents the start of the gateway when it is unreadable: %s', (name, text, sentence) => {
    const path = text === undefined ? join(directory, name) : writeFile(name, text)
    expect(() => readFile(path)).toThrow(sentence)
    expect(() => readFile(path)).toThrow(/^SVC_CONFIG_FILE: /)
    // The problem is reported together with all other configuration problems, before anything is opened.
    const problem = { name: 'SVC_CONFIG_FILE', sentence: expect.stringContaining(sentence) }
    expect(problems({ SVC_CONFIG_FILE: path })).toEqual([problem])
    expect(problems({ SVC_CONFIG_FILE: path, EDGE_WORKERS: '1' })).toEqual([])
  })

  it('is read once, at the start', async () => {
    const path = writeFile('once.yaml', 'features: { metrics: false }')
    await using product = await startFakeProduct({ env: { SVC_CONFIG_FILE: path } })
    const status = async () => (await fetch(`${product.url}/api/v1/metrics`)).status
    expect(await status()).toBe(404)
    writeFile('once.yaml', 'features: { metrics: true }')
    expect(await status()).toBe(404)
  })

  it.each(['EDGE_WORKERS', 'EDGE_PAGES', 'EDGE_LOCAL_EMULATOR'])('is not read on the edge: %s', (mark) => {
    expect(readFile(writeFile('edge.yaml', yaml), { [mark]: '1' }).permissions).toEqual({})
  })
})
