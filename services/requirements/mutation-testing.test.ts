import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAllMutations, readSampledMutations, applyMutation } from './mutation-testing/read-mutations.ts'
import { createTitlePattern } from './mutation-testing/run-test.ts'
import { copyTree, type TreeCopy } from '../testing/tree-copy.ts'
import { listRequirementTests, tryMutation } from './mutation-testing/run-mutant.ts'
import { readAllRequirements, type Requirement } from './requirements.ts'
import { readSource } from '../testing/source-file.ts'

/** Timeout of a mutation, in milliseconds. Each runs two Vitest processes, possibly on a busy machine. */
const withinMs = 120_000

const requirements = new Map(readAllRequirements().map((requirement) => [requirement.id, requirement]))
const mutations = readAllMutations().map((mutation) => [mutation.requirement, mutation.effect, mutation] as const)
const tried = mutations.filter(([, , { short }]) => short)
const sectionOf = (id: string): string => id.slice(0, id.lastIndexOf('/'))

const required = (id: string): Requirement => {
  const requirement = requirements.get(id)
  if (requirement === undefined) throw new Error(`unknown requirement "${id}"`)
  return requirement
}

describe('the mutations', () => {
  it('drawn at random are fifty of all sections, each of another requirement', () => {
    const ids = new Set(readSampledMutations().map(({ requirement }) => requirement))
    expect(ids.size).toBe(50)
    expect(new Set([...ids].map(sectionOf))).toEqual(new Set([...requirements.keys()].map(sectionOf)))
  })

  it.each(mutations)('of %s fits the product: %s', (id, _effect, mutation) => {
    expect(listRequirementTests(required(id))).not.toEqual([])
    expect(applyMutation(readSource(mutation.file).text, mutation)).toEqual(expect.any(String))
  })

  it('replace only a text that occurs once', () => {
    const mutation = { requirement: 'a/b/c', effect: 'none', file: 'x.ts', before: '1', after: '2', short: false }
    expect(['a 1 b', 'a b', '1 1'].map((text) => applyMutation(text, mutation))).toEqual([
      'a 2 b',
      undefined,
      undefined,
    ])
  })
})

describe('a mutated product', { tags: ['long'] }, () => {
  let tree: TreeCopy
  beforeAll(async () => {
    tree = await copyTree()
  })
  afterAll(() => tree[Symbol.asyncDispose]())

  it.each(tried)(
    'fails a test of %s: %s',
    async (id, _effect, mutation) => {
      expect(await tryMutation(tree.path, mutation, required(id))).toBe('found')
    },
    withinMs,
  )

  it('passes the tests of a requirement that it satisfies', { timeout: withinMs }, async () => {
    for (const [id, , mutation] of tried.slice(0, 1)) {
      const harmless = { ...mutation, after: `${mutation.before} ` }
      expect(await tryMutation(tree.path, harmless, required(id))).toBe('survived')
    }
  })
})

describe('the title of a test', () => {
  it.each([
    [{ file: 'a', name: 'group > is %s' }, 'group is well', true],
    [{ file: 'a', name: 'group > is %s, or %d', case: 'well' }, 'group is well, or 3', true],
    [{ file: 'a', name: 'group > is %s', case: 'well' }, 'group is ill', false],
    [{ file: 'a', name: 'group > is $name (why?)' }, 'group is x (why?)', true],
    [{ file: 'a', name: 'group > is well' }, 'group, in one process is well', true],
    [{ file: 'a', name: 'group > is well' }, 'group is well at last', false],
  ])('%j matches %s: %s', (test, title, expected) => {
    expect(createTitlePattern(test).test(title)).toBe(expected)
  })
})
