import { type ModelPrice, ModelProvider, type modelSources, modelProviders } from '#proto/models.ts'
import type { Setting } from '#shared/config/setting.ts'

/** The properties of a model of one gateway; null if unknown. */
export interface KnownModel {
  modelId: string
  name: string
  description: string
  source: (typeof modelSources)[number]
  contextTokens: number | null
  price: ModelPrice | null
  supportsTools: boolean | null
  supportsVision: boolean | null
}

/** A gateway that serves language models. */
interface ModelGateway {
  /** The display name. */
  name: string
  /** The default base URL. */
  base: string
  keyVariable: 'GATEWAY_A_API_KEY' | 'GATEWAY_B_API_KEY' | 'GATEWAY_C_API_KEY'
  baseVariable: 'GATEWAY_A_API_BASE' | 'GATEWAY_B_API_BASE' | 'GATEWAY_C_API_BASE'
  /** Models that are always offered. The first one is the default if `LLM_MODEL` is not set. */
  builtIn: readonly [KnownModel, ...KnownModel[]]
}

const createBuiltInModel = (modelId: string, name: string, more: Partial<KnownModel> = {}): KnownModel => ({
  modelId,
  name,
  description: '',
  source: 'built-in',
  contextTokens: null,
  price: null,
  supportsTools: true,
  supportsVision: null,
  ...more,
})

/** Alias of the free model that `GATEWAY_A_FREE_FALLBACK_MODEL` names. */
export const freeModelAlias = 'gateway_a/free'
/** The OpenRouter model id for requests that OpenRouter routes to one of its free models. */
export const freeRouterModelId = 'openrouter/free'

export const modelGateways: Readonly<Record<ModelProvider, ModelGateway>> = {
  gateway_a: {
    name: 'OpenRouter',
    base: 'https://openrouter.ai/api/v1',
    keyVariable: 'GATEWAY_A_API_KEY',
    baseVariable: 'GATEWAY_A_API_BASE',
    builtIn: [
      createBuiltInModel(freeModelAlias, 'Free', {
        description: 'A model that costs nothing and calls tools.',
        price: { inputPerMillion: 0, outputPerMillion: 0 },
      }),
    ],
  },
  gateway_b: {
    name: 'NVIDIA NIM',
    base: 'https://integrate.api.nvidia.com/v1',
    keyVariable: 'GATEWAY_B_API_KEY',
    baseVariable: 'GATEWAY_B_API_BASE',
    builtIn: [
      createBuiltInModel('nvidia/nemotron-3-super-120b-a12b', 'Nemotron 3 Super', {
        description: 'Reasoning and tools.',
      }),
      createBuiltInModel('openai/gpt-oss-120b', 'gpt-oss 120B', { contextTokens: 131_072 }),
    ],
  },
  gateway_c: {
    name: 'AnyRouter',
    base: 'https://anyrouter.dev/api/v1',
    keyVariable: 'GATEWAY_C_API_KEY',
    baseVariable: 'GATEWAY_C_API_BASE',
    builtIn: [
      createBuiltInModel('anyrouter/auto', 'Automatic', {
        description: 'The model that the gateway considers the best fit.',
      }),
    ],
  },
}

/** A model and its gateway. */
export interface ModelReference {
  provider: ModelProvider
  /** The model id at the gateway. It may contain colons. */
  modelId: string
}

/** Formats a reference as `provider:model`. */
export const formatModelReference = ({ provider, modelId }: ModelReference): string => `${provider}:${modelId}`

/** Parses `provider:model`. Returns undefined for an unknown gateway or an invalid model id. */
export const parseModelReference = (text: string): ModelReference | undefined => {
  const colon = text.indexOf(':')
  const provider = ModelProvider.safeParse(text.slice(0, Math.max(colon, 0)).trim())
  const modelId = text.slice(colon + 1).trim()
  return provider.success && isModelId(modelId) ? { provider: provider.data, modelId } : undefined
}

/** Returns whether a text is a valid model id: 1 to 200 letters, digits or characters of `_.@:/+~-`. */
export const isModelId = (text: string): boolean => /^[\w.@:/+~-]{1,200}$/.test(text)

export const modelReferenceFormat = `provider:model, with one of ${modelProviders.join(', ')} as the provider`

/** Returns a setting for a model. `isDefault` is true if the variable is not set. */
export const createModelReferenceSetting = (
  fallback: string,
  doc: string,
): Setting<ModelReference & { isDefault: boolean }> => ({
  doc,
  audience: 'server',
  fallback,
  allowed: 'provider:model',
  parse: (text) => {
    const parsed = parseModelReference(text ?? fallback)
    if (parsed === undefined) throw new Error(`must be ${modelReferenceFormat}`)
    return { ...parsed, isDefault: text === undefined }
  },
})
