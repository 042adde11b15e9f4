import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Setting } from '#shared/config/setting.ts'
import { readEndpointRows } from './endpoint-rows.ts'
import { readProductSettings } from './product-settings.ts'
import {
  readAllRequirements,
  readDocumentedDefaults,
  type Requirement,
  readRequirements,
  type RequirementTest,
} from './requirements.ts'
import { listTestTitles } from './test-titles.ts'
import { readDocumentedRows } from './variable-rows.ts'
import { readSource, root } from '../testing/source-file.ts'

const requirements = readAllRequirements()
const rows = new Map(readDocumentedRows().map((row) => [row.name, row]))
const named = requirements.map((requirement) => [requirement.id, requirement] as const)
const tests = requirements.flatMap(({ id, tests }) => tests.map((test) => [id, test.name, test] as const))

describe('the requirements of the specification', () => {
  it('contain every fact of both documents once', () => {
    expect(readRequirements('service')).toHaveLength(242)
    expect(readRequirements('configuration')).toHaveLength(241)
    const texts = requirements.map(({ document, text }) => `${document}: ${text}`)
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([])
  })

  it.each(named)('%s has a test or the reason for a deviation', (_id, { tests, variables, deviation }) => {
    expect(tests.length + variables.length > 0 || deviation !== undefined).toBe(true)
    for (const name of variables) expect(rows.get(name)).toMatchObject({ test: expect.any(String) })
  })

  it.each(tests)('%s is shown by a test that exists: %s', (_id, _name, test) => {
    expect(titlesOf(test)).toContain(test.name)
    if (test.case !== undefined) expect(isCaseOf(test, test.case)).toBe(true)
  })
})

describe('the endpoints of the specification', () => {
  const stated = readRequirements('service').flatMap(({ text }) => {
    const { methods, paths } = /^(?<methods>[A-Z, ]+) \| (?<paths>[^|]+) \|/.exec(text)?.groups ?? {}
    const each = [...(paths ?? '').matchAll(/`(?<path>\/[^`]*)`/g)].map(({ groups }) => groups?.path)
    return (methods ?? '').split(', ').flatMap((method) => each.map((path) => `${method} ${path}`))
  })

  it('have a row each', () => {
    expect(
      readEndpointRows()
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
    ).toEqual(stated.toSorted())
  })
})

describe('the tests of a file', () => {
  it.each([
    ["describe('a', () => { it('b', () => {}) })", ['a > b']],
    ["describe('a', () => { it.each([1])('of %s', () => {}) })\ntest('c', () => {})", ['a > of %s', 'c']],
    ["describeWith(['nats'], 'a', () => { it('b', { tags: ['long'] }, () => {}) })", ['a > b']],
    ["describe.each(rows)('$name', () => { it(`is ${what}`, () => {}) })", ['$name > is %s']],
    ["it.close('b', () => {})\ndescribe('a')", []],
  ])('are read from %s', (text, titles) => {
    expect(listTestTitles({ path: 'services/x.test.ts', text })).toEqual(titles)
  })
})

describe('defaults', () => {
  let settings: Map<string, Setting<unknown>[]>
  beforeAll(async () => {
    settings = await readProductSettings()
  })

  it.each(readDocumentedDefaults().map((one) => [one.name, one.stated, one.requirement] as const))(
    '%s is %s, as stated in the document',
    (name, stated, requirement) => {
      const wanted = literalOf(stated)
      // There is no default to compare if the document describes it in words or the product deviates from it. The
      // requirement then needs tests or a reason.
      if (wanted === undefined || requirement.deviation !== undefined)
        return expect(isExplained(requirement)).toBe(true)
      const entries = settings.get(memberOf(name)) ?? []
      expect(entries.map((setting) => hasDefault(setting, wanted, requirement))).toContain(true)
    },
  )
})

/** Returns the name of one member of a family of variables. Any other name is returned unchanged. */
const memberOf = (name: string): string => name.replace('{ID}', 'AGENT').replace('_<RULE_ID>', '')

const isExplained = ({ tests, deviation }: Requirement): boolean => tests.length > 0 || deviation !== undefined

const absent = new Set(['none', 'empty', 'empty string', 'inherits', 'disabled'])
const switches: Readonly<Record<string, boolean>> = { on: true, true: true, off: false, false: false }

/** Returns the default that a document states; undefined if it describes the default in words. */
const literalOf = (stated: string): string | boolean | null | undefined => {
  const text = stated.replace(/ \([^)]*\)$/, '')
  if (absent.has(text)) return null
  const literal = /^`(?<value>[^`]+)`(-style .*)?$/.exec(text)?.groups?.value ?? text
  if (literal in switches) return switches[literal]
  return literal !== text || /^(\d+|auto)$/.test(text) ? literal : undefined
}

/**
 * Returns whether the default of a setting equals the documented one. If the default depends on other settings, the
 * tests of the requirement must cover it.
 */
const hasDefault = (setting: Setting<unknown>, wanted: string | boolean | null, requirement: Requirement): boolean => {
  const value = setting.parse(undefined)
  if (wanted === null || wanted === false) return isNothing(value)
  if (String(wanted) === setting.fallback && typeof value !== 'object' && value !== undefined)
    return same(value, setting.parse(String(wanted)))
  return String(wanted) === setting.fallback && requirement.tests.length > 0
}

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value ?? {}).length === 0)

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const titles = new Map<string, readonly string[]>()
const titlesOf = ({ file }: RequirementTest): readonly string[] => {
  const found = titles.get(file) ?? (existsSync(join(root, file)) ? listTestTitles(readSource(file)) : [])
  titles.set(file, found)
  return found
}

/** Returns whether a placeholder can have this value: it occurs in the test file, or is a row of `endpoints.yaml`. */
const isCaseOf = ({ file }: RequirementTest, value: string): boolean => {
  if (readFileSync(join(root, file), 'utf8').includes(`'${value}'`)) return true
  const [method = '', path = ''] = value.split(' ')
  const endpoints = readFileSync(join(root, 'services/requirements/endpoints.yaml'), 'utf8')
  return file.endsWith('/endpoints.test.ts') && endpoints.includes(`- method: ${method}\n  path: ${path}\n`)
}
