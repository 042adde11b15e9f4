import { describe, expect, it } from 'vitest'
import { forbidWallClockArithmetic, wallClockFiles } from './lint-rules/wall-clock-rule.ts'
import {
  type LintRule,
  requireCastComments,
  forbidStatelessClasses,
  requireExportDocs,
  forbidAbbreviations,
} from './lint-rules/rules.ts'
import { isCodeFile, isTestFile, readSource, listRepositoryFiles } from '../testing/source-file.ts'

const product = listRepositoryFiles()
  .filter((path) => isCodeFile(path) && !isTestFile(path))
  .map(readSource)
const lengthOf = (text: string): number => text.split('\n').length - 1

const broken = (rule: LintRule, text: string, path = 'services/x.ts'): number => rule({ path, text }).length

describe('sizes', () => {
  const lengths = product.map(({ text }) => lengthOf(text)).toSorted((a, b) => a - b)

  it('of half of all files are at most 90 lines, of nine of ten at most 220', () => {
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(90)
    expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThanOrEqual(220)
  })

  it('of every file are at most 400 lines', () => {
    const files = listRepositoryFiles().filter(isCodeFile).map(readSource)
    expect(files.filter(({ text }) => lengthOf(text) > 400).map(({ path }) => path)).toEqual([])
  })

  it('of every service.ts are at most 60 lines', () => {
    const services = product.filter(({ path }) => path.endsWith('/service.ts'))
    expect(services.filter(({ text }) => lengthOf(text) > 60).map(({ path }) => path)).toEqual([])
    expect(services).not.toEqual([])
  })
})

describe('parsed source files', () => {
  const shared = product.filter(({ path }) => /^(proto|services\/shared)\//.test(path))

  it('explain every cast', () => {
    expect(broken(requireCastComments, 'const a = b as string\n')).toBe(1)
    expect(broken(requireCastComments, 'const f = () => {\n  // why\n  const c = 1\n  return c as never\n}\n')).toBe(1)
    expect(broken(requireCastComments, '// b was parsed above.\nconst a = b as string\n')).toBe(0)
    expect(broken(requireCastComments, "const a = ['x'] as const\n")).toBe(0)
    expect(product.flatMap(requireCastComments)).toEqual([])
  })

  it('use whole words as names', () => {
    expect(broken(forbidAbbreviations, 'const cfg = 1\n')).toBe(1)
    expect(broken(forbidAbbreviations, 'const f = ({ a: { req } }, ...args) => req\n')).toBe(2)
    expect(broken(forbidAbbreviations, 'try { f() } catch (err) { g(err) }\n')).toBe(1)
    expect(broken(forbidAbbreviations, 'const { res: response } = f(settings.opts)\n')).toBe(0)
    expect(product.flatMap(forbidAbbreviations)).toEqual([])
  })

  it('measure durations with the monotonic clock', () => {
    expect(broken(forbidWallClockArithmetic, 'const isOver = clock.now() - sinceMs > lifeMs\n')).toBe(1)
    expect(broken(forbidWallClockArithmetic, 'const nowMs = parts.clock.now()\nif (untilMs < nowMs) end()\n')).toBe(1)
    expect(broken(forbidWallClockArithmetic, 'const deadline = Date.now() + 5\n')).toBe(1)
    expect(broken(forbidWallClockArithmetic, 'const at = new Date()\n')).toBe(1)
    expect(broken(forbidWallClockArithmetic, 'const ageMs = clock.elapsedMs() - sinceMs\n')).toBe(0)
    expect(broken(forbidWallClockArithmetic, 'const record = { atMs: clock.now() }\n')).toBe(0)
    const isMeasured = (path: string) => !/^services\/(bench|sandbox)\/|\/testing\//.test(path)
    const files = product.filter(({ path }) => isMeasured(path))
    const calculating = files.filter((file) => forbidWallClockArithmetic(file).length > 0).map(({ path }) => path)
    expect(calculating).toEqual(Object.keys(wallClockFiles).toSorted())
  })

  it('have classes only with private state or a base class', () => {
    expect(broken(forbidStatelessClasses, 'class A { b = 1 }\n')).toBe(1)
    expect(broken(forbidStatelessClasses, 'class A { #b = 1 }\n')).toBe(0)
    expect(broken(forbidStatelessClasses, 'class Refused extends TypeError {}\n')).toBe(0)
    expect(product.flatMap(forbidStatelessClasses)).toEqual([])
  })

  it('document every export of proto and services/shared', () => {
    expect(broken(requireExportDocs, '// no\nexport const a = 1\n')).toBe(1)
    expect(broken(requireExportDocs, '/** One. */\nexport const a = 1\n')).toBe(0)
    expect(broken(requireExportDocs, '/** A. */\nexport const A = z.any()\nexport type A = z.infer<typeof A>\n')).toBe(
      0,
    )
    expect(shared.flatMap(requireExportDocs)).toEqual([])
  })
})

/** Returns role locators with a name but without `exact`, because they also match longer names. */
const looseNames = (text: string): string[] =>
  [...text.matchAll(/getByRole\('\w+', \{(?:[^{}]|\$\{[^{}]*\})*\}/g)]
    .map(([locator]) => locator)
    .filter((locator) => /\bname\b/.test(locator) && !/\bname: (?:\/|new RegExp)|\bexact: /.test(locator))

it('browser tests select elements by exact names', () => {
  expect(looseNames("page.getByRole('table', { name: 'Tables' })")).toHaveLength(1)
  expect(looseNames("page.getByRole('table', { name: `${title}` }).getByRole('row', { name })")).toHaveLength(2)
  expect(looseNames("page.getByRole('table', { name: 'Tables', exact: true })")).toEqual([])
  expect(looseNames("page.getByRole('table', { name: /^Tables/ }).getByRole('row', { level: 1 })")).toEqual([])
  const tests = listRepositoryFiles().filter((path) => path.startsWith('web/tests/') && isCodeFile(path))
  expect(tests.map(readSource).flatMap(({ path, text }) => looseNames(text).map((each) => `${path}: ${each}`))).toEqual(
    [],
  )
  expect(tests).not.toEqual([])
})
