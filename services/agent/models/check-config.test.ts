import { describe, expect, it } from 'vitest'
import { openTestModels } from './testing/open-models.ts'

describe('the check of the configuration', () => {
  it('reports missing variables and that no model is available', async () => {
    const { models } = await openTestModels({})
    const check = await models.check()
    expect(check).toMatchObject({ active: false, defaultModel: null, notes: [] })
    expect(check.providers.map(({ configured, missing }) => [configured, missing])).toEqual([
      [false, ['GATEWAY_A_API_KEY', 'LLM_API_KEY']],
      [false, ['GATEWAY_B_API_KEY', 'LLM_API_KEY']],
      [false, ['GATEWAY_C_API_KEY', 'LLM_API_KEY']],
    ])
  })

  it.each<[Record<string, string>, RegExp]>([
    [
      { LLM_MODEL: 'gateway_b:x', GATEWAY_A_API_KEY: 'k' },
      /^LLM_MODEL names a model of gateway_b, which has no key: set GATEWAY_B_API_KEY or LLM_API_KEY/,
    ],
    [
      { LLM_API_KEY: 'k', GATEWAY_A_API_KEY: 'k', GATEWAY_B_API_KEY: 'k', GATEWAY_C_API_KEY: 'k' },
      /^LLM_API_KEY is not used/,
    ],
    [{ LLM_API_BASE: 'http://own.example', GATEWAY_A_API_KEY: 'k' }, /^LLM_API_BASE is not used/],
  ])('reports conflicting settings: %j', async (env, note) => {
    const off = { GATEWAY_A_DYNAMIC_MODELS: 'off', GATEWAY_B_DYNAMIC_MODELS: 'off' }
    const { models } = await openTestModels({ ...env, ...off })
    const { notes } = await models.check()
    expect(notes).toEqual([expect.stringMatching(note)])
    expect(notes.join()).not.toContain('own.example')
  })
})
