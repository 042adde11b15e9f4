import { describe, expect, it } from 'vitest'
import { type ModelProvider, modelProviders } from '#proto/models.ts'
import { hasDesignatedKey, listMissingKeyVariables, getOperatorAccess, getCallerAccess } from './gateway-access.ts'

const a = 'https://openrouter.ai/api/v1'
const b = 'https://integrate.api.nvidia.com/v1'
const c = 'https://anyrouter.dev/api/v1'

type Way = [key: string, base: string] | undefined

describe('a key', () => {
  it.each<[string, Record<string, string>, Record<ModelProvider, Way>]>([
    ['that is not set gives no access', {}, { gateway_a: undefined, gateway_b: undefined, gateway_c: undefined }],
    [
      'that is generic serves every gateway without a key of its own',
      { LLM_API_KEY: 'k' },
      { gateway_a: ['k', a], gateway_b: ['k', b], gateway_c: ['k', c] },
    ],
    [
      'that is generic serves every gateway, whichever LLM_MODEL names',
      { LLM_API_KEY: 'k', LLM_MODEL: 'gateway_b:meta/llama' },
      { gateway_a: ['k', a], gateway_b: ['k', b], gateway_c: ['k', c] },
    ],
    [
      'that is generic goes to the generic address',
      { LLM_API_KEY: 'k', LLM_API_BASE: 'https://vllm.example/v1', GATEWAY_A_API_BASE: 'https://a.example/v1' },
      {
        gateway_a: ['k', 'https://vllm.example/v1'],
        gateway_b: ['k', 'https://vllm.example/v1'],
        gateway_c: ['k', 'https://vllm.example/v1'],
      },
    ],
    [
      'that is generic goes to the configured address of its gateway if LLM_API_BASE is not set',
      { LLM_API_KEY: 'k', GATEWAY_A_API_BASE: 'https://a.example/v1' },
      { gateway_a: ['k', 'https://a.example/v1'], gateway_b: ['k', b], gateway_c: ['k', c] },
    ],
    [
      'of a gateway takes precedence over the generic one, and never goes to the generic address',
      { LLM_API_KEY: 'k', LLM_API_BASE: 'https://vllm.example/v1', GATEWAY_A_API_KEY: 'ka', GATEWAY_C_API_KEY: 'kc' },
      { gateway_a: ['ka', a], gateway_b: ['k', 'https://vllm.example/v1'], gateway_c: ['kc', c] },
    ],
    [
      'of each gateway goes to its own address',
      { GATEWAY_A_API_KEY: 'ka', GATEWAY_B_API_KEY: 'kb', GATEWAY_B_API_BASE: 'http://nim.internal:8000/v1' },
      { gateway_a: ['ka', a], gateway_b: ['kb', 'http://nim.internal:8000/v1'], gateway_c: undefined },
    ],
    [
      'of only spaces counts as unset',
      { LLM_API_KEY: ' ', GATEWAY_A_API_KEY: ' ' },
      { gateway_a: undefined, gateway_b: undefined, gateway_c: undefined },
    ],
  ])('%s', (_, env, ways) => {
    const found = Object.keys(ways).map((provider) => {
      // The keys of the table are exactly the providers.
      const access = getOperatorAccess(env, provider as ModelProvider)
      return [provider, access && [access.key, access.base.href]]
    })
    expect(Object.fromEntries(found)).toEqual(ways)
  })

  it('of a caller is never sent to LLM_API_BASE', () => {
    const env = { LLM_API_KEY: 'k', LLM_API_BASE: 'https://vllm.example/v1' }
    expect(getCallerAccess(env, 'gateway_a', 'mine', 'the request')).toMatchObject({ key: 'mine', base: new URL(a) })
  })

  it('in LLM_API_KEY is designated only for the gateway of LLM_MODEL', () => {
    const env = { LLM_API_KEY: 'k', LLM_MODEL: 'gateway_b:meta/llama', GATEWAY_C_API_KEY: 'kc' }
    expect(modelProviders.filter((provider) => hasDesignatedKey(env, provider))).toEqual(['gateway_b', 'gateway_c'])
  })

  it('that is missing is reported by its variables', () => {
    expect(listMissingKeyVariables({}, 'gateway_a')).toEqual(['GATEWAY_A_API_KEY', 'LLM_API_KEY'])
    expect(listMissingKeyVariables({}, 'gateway_b')).toEqual(['GATEWAY_B_API_KEY', 'LLM_API_KEY'])
    expect(listMissingKeyVariables({ LLM_API_KEY: 'k' }, 'gateway_b')).toEqual([])
    expect(listMissingKeyVariables({ GATEWAY_B_API_KEY: 'k' }, 'gateway_b')).toEqual([])
  })
})
