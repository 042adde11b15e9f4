import { describe, expect, it } from 'vitest'
import type { ModelSettings } from '#lib/api/agent.ts'
import { readGatewayForm, toSettingsChange } from './gateway-choice.ts'

const settings = (baseUrl: string | null, model: string | null, source = 'database'): ModelSettings => ({
  problem: null,
  fields: [
    { field: 'apiKey', variable: 'LLM_API_KEY', isSecret: true, value: null, source: 'default' },
    { field: 'baseUrl', variable: 'LLM_API_BASE', isSecret: false, value: baseUrl, source: 'default' },
    { field: 'model', variable: 'LLM_MODEL', isSecret: false, value: model, source },
  ],
})

describe('the form of the model gateway', () => {
  it('shows the current settings', () => {
    expect(readGatewayForm(settings(null, null))).toEqual({ gateway: 'gateway_a', apiKey: '', baseUrl: '', model: '' })
    expect(readGatewayForm(settings(null, 'gateway_c:a:b'))).toMatchObject({ gateway: 'gateway_c', model: 'a:b' })
    expect(readGatewayForm(settings('http://localhost:11434/v1', 'gateway_a:qwen'))).toMatchObject({
      gateway: 'other',
      model: 'qwen',
    })
  })

  it('changes what was typed, and nothing that a variable sets', () => {
    const form = { gateway: 'other', apiKey: ' sk-x ', baseUrl: 'http://localhost:11434/v1', model: 'qwen' } as const
    expect(toSettingsChange(settings(null, null), form)).toEqual({
      apiKey: 'sk-x',
      baseUrl: 'http://localhost:11434/v1',
      model: 'gateway_a:qwen',
    })
    expect(toSettingsChange(settings('http://old/v1', null), { ...form, gateway: 'gateway_b', apiKey: '' })).toEqual({
      baseUrl: null,
      model: 'gateway_b:qwen',
    })
    expect(toSettingsChange(settings(null, 'gateway_a:one', 'environment'), form)).not.toHaveProperty('model')
  })
})
