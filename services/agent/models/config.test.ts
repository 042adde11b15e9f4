import { describe, expect, it } from 'vitest'
import { InvalidSettings, parseSettings } from '#shared/config/setting.ts'
import { createAttributionHeaders } from './attribution.ts'
import { modelSettings } from './config.ts'

const problemOf = (env: Record<string, string>): string | undefined => {
  try {
    parseSettings(modelSettings, env)
    return undefined
  } catch (error) {
    if (error instanceof InvalidSettings) return error.message
    throw error
  }
}

describe('an additional model', () => {
  it.each([
    [
      'gateway_b:meta/llama-3.3-70b',
      [{ provider: 'gateway_b', modelId: 'meta/llama-3.3-70b', contextTokens: null, description: '' }],
    ],
    [
      ' gateway_a:x/y:free | 128K | fast, , gateway_c:@preset/ops|1000000 ',
      [
        { provider: 'gateway_a', modelId: 'x/y:free', contextTokens: 128_000, description: 'fast' },
        { provider: 'gateway_c', modelId: '@preset/ops', contextTokens: 1_000_000, description: '' },
      ],
    ],
    ['gateway_a:m|1M|big', [{ provider: 'gateway_a', modelId: 'm', contextTokens: 1_000_000, description: 'big' }]],
    [
      'gateway_a:m||only words',
      [{ provider: 'gateway_a', modelId: 'm', contextTokens: null, description: 'only words' }],
    ],
    ['', []],
  ])('is parsed from %j', (text, models) => {
    expect(parseSettings(modelSettings, { LLM_EXTRA_MODELS: text }).LLM_EXTRA_MODELS).toEqual(models)
  })

  it.each([
    ['llama', /entry 1 must begin with provider:model/],
    ['openai:gpt', /entry 1 must begin with provider:model/],
    ['gateway_a:', /entry 1 must begin/],
    ['gateway_a:a b', /entry 1 must begin/],
    ['gateway_a:m,gateway_a:n|many', /entry 2 must give the context length/],
    ['gateway_a:m|0', /entry 1 must give the context length/],
    ['gateway_a:m|1|d|e', /entry 1 must have at most three fields/],
    [`gateway_a:m|1|${'d'.repeat(301)}`, /entry 1 must have a description of at most 300/],
    [Array.from({ length: 65 }, (_, at) => `gateway_a:m${at}`).join(','), /at most 64 models/],
  ])('is rejected if it is %j', (text, sentence) => {
    expect(problemOf({ LLM_EXTRA_MODELS: text })).toMatch(sentence)
  })
})

describe('the settings of language models', () => {
  it.each([
    ['LLM_MODEL', 'gpt-5', /LLM_MODEL: must be provider:model, with one of gateway_a, gateway_b, gateway_c/],
    ['GATEWAY_C_TOP_MODELS_N', '33', /must be a whole number 0–32/],
    ['GATEWAY_C_METRICS_CANDIDATE_CAP', '65', /must be a whole number 0–64/],
    ['GATEWAY_A_API_BASE', 'ftp://x', /must be an absolute URL/],
    ['LLM_API_BASE', 'openrouter', /must be an absolute URL/],
    ['APP_NAME', 'Wätch', /printable ASCII/],
    ['APP_REFERER', 'https://x\nAuthorization: y', /printable ASCII/],
  ])('reject %s=%j', (name, text, sentence) => {
    expect(problemOf({ [name]: text })).toMatch(sentence)
  })

  it('have the defaults of the specification', () => {
    expect(parseSettings(modelSettings, {})).toMatchObject({
      LLM_MODEL: { provider: 'gateway_a', modelId: 'gateway_a/free', isDefault: true },
      GATEWAY_A_DYNAMIC_MODELS: true,
      GATEWAY_A_TOP_MODELS_N: 12,
      GATEWAY_B_DYNAMIC_MODELS: true,
      GATEWAY_B_TOP_MODELS_N: 12,
      GATEWAY_C_DYNAMIC_MODELS: true,
      GATEWAY_C_TOP_MODELS_N: 8,
      GATEWAY_C_METRICS_CANDIDATE_CAP: 24,
      GATEWAY_C_PRESETS: true,
      GATEWAY_C_PRESETS_MAX: 8,
      APP_CATEGORY: 'programming-app',
      APP_VERSION: '0.2.0',
    })
  })
})

describe('the identification of the product', () => {
  it('uses the variables of OpenRouter by default', () => {
    const env = { GATEWAY_A_REFERER: 'https://a.example', GATEWAY_A_APP_NAME: 'A' }
    expect(createAttributionHeaders(env, 'gateway_a')).toEqual({
      'HTTP-Referer': 'https://a.example',
      'X-OpenRouter-Title': 'A',
      'X-OpenRouter-Categories': 'programming-app',
    })
    expect(createAttributionHeaders(env, 'gateway_c')).toEqual({
      'HTTP-Referer': 'https://a.example',
      'X-AnyRouter-Title': 'A',
      'X-AnyRouter-Source': 'watchhouse',
      'X-AnyRouter-Categories': 'programming-app',
      'X-AnyRouter-Version': '0.2.0',
    })
  })

  it('is configurable, with separate values for OpenRouter', () => {
    const env = {
      APP_REFERER: 'https://w.example',
      APP_NAME: 'W',
      APP_SOURCE: 's',
      APP_CATEGORY: 'c',
      APP_VERSION: '9',
      GATEWAY_A_REFERER: 'https://a.example',
    }
    expect(createAttributionHeaders(env, 'gateway_a')).toMatchObject({
      'HTTP-Referer': 'https://a.example',
      'X-OpenRouter-Title': 'W',
      'X-OpenRouter-Categories': 'c',
    })
    expect(createAttributionHeaders(env, 'gateway_b')).toEqual({ 'HTTP-Referer': 'https://w.example', 'X-Title': 'W' })
    expect(createAttributionHeaders(env, 'gateway_c')).toMatchObject({
      'X-AnyRouter-Source': 's',
      'X-AnyRouter-Categories': 'c',
      'X-AnyRouter-Version': '9',
    })
  })

  it('has built-in defaults', () => {
    expect(createAttributionHeaders({}, 'gateway_b')).toEqual({
      'HTTP-Referer': 'https://watchhouse.example',
      'X-Title': 'Watchhouse',
    })
  })
})
