import { describe, expect, it } from 'vitest'
import { parseLiveList } from './read-live-list.ts'

const one = (row: object) => parseLiveList({ data: [row] })[0]

describe('a row of a live list', () => {
  it('is read in the format of OpenRouter', () => {
    expect(
      one({
        id: 'anthropic/claude',
        name: 'Claude',
        description: 'Good\nat   tools.',
        context_length: 200_000,
        pricing: { prompt: '0.000003', completion: '0.000015' },
        supported_parameters: ['temperature', 'tools'],
        architecture: { input_modalities: ['text', 'image'] },
      }),
    ).toEqual({
      modelId: 'anthropic/claude',
      name: 'Claude',
      description: 'Good at tools.',
      source: 'live',
      contextTokens: 200_000,
      price: { inputPerMillion: 3, outputPerMillion: 15 },
      supportsTools: true,
      supportsVision: true,
    })
  })

  it('is read in the format of AnyRouter, without the ambiguous price', () => {
    const row = {
      id: 'openai/gpt',
      category: 'text',
      capabilities: ['chat', 'tool_use'],
      pricing: { input_per_1k: 10 },
    }
    expect(one(row)).toMatchObject({ name: 'openai/gpt', price: null, supportsTools: true, supportsVision: false })
  })

  it('is read in the format of NVIDIA, which has only names', () => {
    expect(one({ id: 'meta/llama-3.3-70b-instruct', object: 'model', created: 1, owned_by: 'meta' })).toMatchObject({
      contextTokens: null,
      price: null,
      supportsTools: null,
      supportsVision: null,
    })
  })

  it.each([
    [{ pricing: { prompt: '-1', completion: '-1' } }, { price: null }],
    [{ pricing: 'free' }, { price: null }],
    [{ context_length: -5 }, { contextTokens: null }],
    [{ supported_parameters: 'tools' }, { supportsTools: null }],
    [{ supported_parameters: ['temperature'] }, { supportsTools: false }],
    [{ description: 'd'.repeat(500) }, { description: `${'d'.repeat(199)}…` }],
  ])('has the readable fields of %j', (more, known) => {
    expect(one({ id: 'm', ...more })).toMatchObject(known)
  })

  it.each([
    { id: 'a b' },
    { id: 7 },
    {},
    null,
    { id: 'nvidia/nv-embedqa-e5' },
    { id: 'meta/llama-guard-4' },
    { id: 'x/y', category: 'image' },
  ])('is omitted if it is %j', (row) => {
    expect(parseLiveList({ data: [row] })).toEqual([])
  })

  it.each([[[]], [{}], [{ data: {} }], ['list'], [null]])('is rejected outside a list: %j', (body) => {
    expect(() => parseLiveList(body)).toThrow()
  })
})
