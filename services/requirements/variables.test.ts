import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildOnlyVariables, type BuildVariable, clientVariables } from '#proto/build-variables.ts'
import type { Setting } from '#shared/config/setting.ts'
import { findVariableReads, readProductFiles, findSettingRecordReads } from './variable-reads.ts'
import { readProductSettings } from './product-settings.ts'
import { readDocumentedNames } from './requirements.ts'
import { readDocumentedRows, expandVariableFamily, readUndocumentedRows, type VariableRow } from './variable-rows.ts'
import { root } from '../testing/source-file.ts'

const documented = readDocumentedRows()
const beyond = readUndocumentedRows()
const settings = await readProductSettings()
const listed = [...documented, ...beyond].map((row) => [row.name, row] as const)
/** Names of the variables that have a row. Other variables are checked only against their declarations. */
const isListed = new Set(listed.flatMap(([name]) => expandVariableFamily(name)))
const unlisted = [...settings.keys()].filter((name) => !isListed.has(name)).map((name) => [name, {}] as const)
const rows: (readonly [string, Partial<VariableRow>])[] = [...listed, ...unlisted]

let read: Set<string>
let records: Map<string, readonly string[]>
beforeAll(() => {
  const files = readProductFiles()
  read = new Set(files.flatMap(findVariableReads))
  records = findSettingRecordReads(files)
})

/** Returns the settings of a variable. A variable with a rule id has the settings of the general variable. */
const entriesOf = (name: string): Setting<unknown>[] => settings.get(name.replace('_<RULE_ID>', '')) ?? []

const outcomeOf = ({ parse }: Setting<unknown>, text: string): unknown => {
  try {
    return parse(text)
  } catch (error) {
    return error
  }
}

describe('the variables', () => {
  it('of the documents have a row each', () => {
    const names = readDocumentedNames().filter((name) => !isInFamily(name))
    expect(documented.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  })

  it('beyond the documents are listed separately', () => {
    const inDocuments = new Set(documented.flatMap(({ name }) => expandVariableFamily(name)))
    expect(beyond.map(({ name }) => name).filter((name) => inDocuments.has(name) || !settings.has(name))).toEqual([])
    // A row with none of these fields would only repeat the settings reference.
    expect(beyond.filter(({ bad, test, readAs }) => !test && !readAs && Object.keys(bad).length === 0)).toEqual([])
    expect(unlisted.map(([name]) => name)).toContain('SVC_DEFINITIONS_DIRECTORY')
  })

  it.each(listed)('%s has a setting with the default and the allowed values of its row', (name, row) => {
    for (const member of expandVariableFamily(name)) {
      const entries = entriesOf(member)
      expect(entries.map(({ allowed }) => allowed)).toContain(row.allowed)
      expect(entries.map(({ fallback }) => fallback)).toContain(row.default)
      if (name.includes('<RULE_ID>')) expect(entries.map(({ doc }) => doc).join()).toContain(name)
    }
  })

  const badTexts = listed.flatMap(([name, { bad }]) => Object.entries(bad).map(([text, words]) => [name, text, words]))
  it.each(badTexts)('%s=%s is rejected with an error or counts as unset: %s', (name = '', text = '', words = '') => {
    for (const member of expandVariableFamily(name)) {
      const entries = entriesOf(member)
      const outcomes = entries.map((entry) => outcomeOf(entry, text))
      // One service that rejects the value is enough, because the product then does not start.
      if (words !== 'unset') expect(outcomes.map(String)).toContainEqual(expect.stringContaining(`Error: ${words}`))
      else expect(outcomes).toEqual(entries.map((entry) => entry.parse(undefined)))
    }
  })

  it.each(rows)('%s is read by some code', (name, { readAs }) => {
    if (readAs !== undefined) expect(records.get(readAs)).toContain(name)
    else expect(readings(name).some((reading) => read.has(reading))).toBe(true)
  })

  it.each(listed.filter(([, { test }]) => test !== undefined))(
    '%s has an existing test that shows its effect',
    (name, row) => {
      const { test = '', title = '', named = test, case: first } = row
      expect(["'", '"', '`'].some((quote) => textOf(test).includes(quote + title + quote))).toBe(true)
      expect(textOf(named)).toContain(startOf(name))
      if (first !== undefined) expect(textOf(test)).toContain(`'${first}'`)
    },
  )

  it('of the documents all have a test that shows their effect', () => {
    expect(documented.filter(({ test, title }) => test === undefined || title === undefined)).toEqual([])
  })
})

describe('a variable of the web build', () => {
  const canonical = Object.values<BuildVariable>(clientVariables).flatMap((variable) => variable.canonical ?? [])
  const ofServer = [...canonical, 'SVC_DEPLOYMENT_MODE', ...Object.keys(buildOnlyVariables)]

  it.each(ofServer)('%s triggers a new build when it changes', (name) => {
    expect(textOf('services/set-up.mjs')).toContain(`'${name}'`)
  })

  it.each([...ofServer, ...Object.keys(clientVariables)])('%s is an argument of the image', (name) => {
    expect(textOf('services/Dockerfile')).toMatch(new RegExp(`^ARG .*\\b${name}\\b`, 'm'))
  })
})

describe('a setting without a row', () => {
  it.each(unlisted)('%s has a valid default', (name) => {
    for (const { doc, parse } of entriesOf(name)) {
      expect(doc.length).toBeGreaterThan(10)
      expect(() => parse(undefined)).not.toThrow()
    }
  })
})

describe('reading a variable', () => {
  it.each([
    ['const { A_B: own } = parseSettings(settings, env)', ['A_B']],
    ['const own = env.A_B ?? env["C_D"]', ['A_B', 'C_D']],
    ['const own = values[`SVC_FEATURE_${id}_ACCESS`]', ['SVC_FEATURE_']],
    ['const settings = { A_B: text("", "A_B is a sentence.") }', []],
  ])('is seen in %s', (text, names) => {
    expect(findVariableReads({ path: 'services/x.ts', text })).toEqual(names)
  })
})

const families = documented.filter(({ name }) => name.includes('{ID}'))
const isInFamily = (name: string): boolean =>
  families.some((family) => expandVariableFamily(family.name).includes(name))

/** Returns the names by which code may read a variable. Code may also read a family by its prefix. */
const readings = (name: string): string[] => [name, startOf(name)]
const startOf = (name: string): string => name.replace(/[{<].*$/, '')

/** Caches file contents, because many rows refer to the same test. */
const texts = new Map<string, string>()
const textOf = (path: string): string => {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8')
  texts.set(path, text)
  return text
}
