import { describe, expect, it } from 'vitest'
import { type KnownModel, formatModelReference } from './gateways.ts'
import {
  type ModelCandidate,
  listModelCandidates,
  type LiveListsByGateway,
  resolveModelId,
  toOfferedModel,
} from './offered-models.ts'

const model = (modelId: string, more: Partial<KnownModel> = {}): KnownModel => ({
  modelId,
  name: modelId,
  description: '',
  source: 'live',
  contextTokens: null,
  price: null,
  supportsTools: true,
  supportsVision: null,
  ...more,
})
const models = (prefix: string, count: number): KnownModel[] =>
  Array.from({ length: count }, (_, at) => model(`${prefix}${at}`))
const listOf = (list: readonly KnownModel[], mostUsed: string[] = [], presets: KnownModel[] | null = []) => ({
  models: list,
  mostUsed,
  presets,
})
const offered = (env: Record<string, string>, lists: LiveListsByGateway, provider: string): string[] =>
  listModelCandidates(env, lists)
    .filter((each) => each.provider === provider && each.source !== 'built-in')
    .map(({ modelId }) => modelId)

describe('offered models', () => {
  it.each([
    ['gateway_a', 'GATEWAY_A_TOP_MODELS_N', 12],
    ['gateway_b', 'GATEWAY_B_TOP_MODELS_N', 12],
    ['gateway_c', 'GATEWAY_C_TOP_MODELS_N', 8],
  ])('of %s are the first %s of its list that call tools, by default %i', (provider, variable, fallback) => {
    const lists = { [provider]: listOf([model('mute', { supportsTools: false }), ...models('m', 40)]) }
    expect(offered({}, lists, provider)).toEqual(models('m', fallback).map(({ modelId }) => modelId))
    expect(offered({ [variable]: '2' }, lists, provider)).toEqual(['m0', 'm1'])
    expect(offered({ [variable]: '0' }, lists, provider)).toEqual([])
  })

  it('of AnyRouter are selected from the most used models', () => {
    const gateway_c = listOf(models('m', 30), ['m29', 'm7', 'gone', 'm3'])
    expect(offered({ GATEWAY_C_TOP_MODELS_N: '4' }, { gateway_c }, 'gateway_c')).toEqual(['m29', 'm7', 'm3', 'm0'])
    const mute = listOf([model('used', { supportsTools: false }), ...models('m', 3)], ['used'])
    expect(offered({ GATEWAY_C_METRICS_CANDIDATE_CAP: '2' }, { gateway_c: mute }, 'gateway_c')).toEqual(['m0'])
    expect(offered({}, { gateway_c: listOf(models('m', 40)) }, 'gateway_c')).toHaveLength(8)
    const many = { GATEWAY_C_TOP_MODELS_N: '32' }
    expect(offered(many, { gateway_c: listOf(models('m', 40)) }, 'gateway_c')).toHaveLength(24)
  })

  it('of AnyRouter start with its presets', () => {
    const presets = Array.from({ length: 10 }, (_, at) => model(`@preset/p${at}`, { source: 'preset' }))
    const lists = { gateway_c: listOf(models('m', 1), [], presets) }
    expect(offered({}, lists, 'gateway_c')).toEqual([...presets.slice(0, 8).map(({ modelId }) => modelId), 'm0'])
    expect(offered({ GATEWAY_C_PRESETS_MAX: '1' }, lists, 'gateway_c')).toEqual(['@preset/p0', 'm0'])
    expect(offered({ GATEWAY_C_PRESETS: 'off' }, lists, 'gateway_c')).toEqual(['m0'])
  })

  it('include those that the operator names, each once, with the facts of the live list', () => {
    const env = { LLM_EXTRA_MODELS: 'gateway_a:x/y|1K|mine,gateway_a:x/y,gateway_b:z', LLM_MODEL: 'gateway_a:n' }
    const live = model('x/y', { name: 'XY', contextTokens: 5, price: { inputPerMillion: 1, outputPerMillion: 2 } })
    const found = listModelCandidates(env, { gateway_a: listOf([live]) })
    expect(found.filter(({ modelId }) => modelId === 'x/y')).toEqual([
      { ...live, provider: 'gateway_a', source: 'extra', contextTokens: 1_000, description: 'mine' },
    ])
    expect(found.map(formatModelReference)).toEqual(
      expect.arrayContaining(['gateway_b:z', 'gateway_a:n', 'gateway_a:gateway_a/free']),
    )
  })

  it('include an alias of a free model, with the facts of that model', () => {
    const env = { GATEWAY_A_FREE_FALLBACK_MODEL: 'x/free' }
    const lists = { gateway_a: listOf([model('x/free', { contextTokens: 64_000 })]) }
    const alias = listModelCandidates(env, lists).find(({ modelId }) => modelId === 'gateway_a/free')
    expect(alias).toMatchObject({ contextTokens: 64_000, price: { inputPerMillion: 0, outputPerMillion: 0 } })
    expect(resolveModelId(env, { provider: 'gateway_a', modelId: 'gateway_a/free' })).toBe('x/free')
    expect(resolveModelId(env, { provider: 'gateway_a', modelId: 'x/y' })).toBe('x/y')
    expect(resolveModelId(env, { provider: 'gateway_b', modelId: 'gateway_a/free' })).toBe('gateway_a/free')
  })
})

describe('a model in the contract', () => {
  const candidate: ModelCandidate = { provider: 'gateway_a', ...model('m', { contextTokens: 131_072 }) }
  it.each([
    [{}, { id: 'gateway_a:m', modelId: 'm', formattedContextLength: '131K', isFree: false, available: true }],
    [{ contextTokens: 1_048_576 }, { formattedContextLength: '1.05M' }],
    [{ contextTokens: null }, { contextLength: null, formattedContextLength: null }],
    [{ price: { inputPerMillion: 0, outputPerMillion: 0 } }, { isFree: true }],
    [{ price: { inputPerMillion: 0, outputPerMillion: 1 } }, { isFree: false }],
  ])('with %j', (more, expected) => {
    expect(toOfferedModel({ ...candidate, ...more }, true)).toMatchObject(expected)
  })
})
