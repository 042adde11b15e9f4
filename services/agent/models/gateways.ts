import { type ModelPrice, ModelProvider, type modelSources, modelProviders } from '#proto/models.ts'
import type { Setting } from '#shared/config/setting.ts'

/** What is known of a model of one gateway. What nobody tells is null. */
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

/** A gateway to language models. */
interface ModelGateway {
  /** As people know it. */
  name: string
  /** Where it is asked unless the operator says otherwise. */
  base: string
  keyVariable: 'GATEWAY_A_API_KEY' | 'GATEWAY_B_API_KEY' | 'GATEWAY_C_API_KEY'
  baseVariable: 'GATEWAY_A_API_BASE' | 'GATEWAY_B_API_BASE' | 'GATEWAY_C_API_BASE'
  /** Offered whatever its live list says; the first answers where no model is set. */
  builtIn: readonly [KnownModel, ...KnownModel[]]
}

const builtIn = (modelId: string, name: string, more: Partial<KnownModel> = {}): KnownModel => ({
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

/** Stands for a model that costs nothing, which the operator may choose. */
export const freeAlias = 'gateway_a/free'
/** What gateway A itself calls whichever of its free models can do what is asked. */
export const freeRouter = 'openrouter/free'

export const gateways: Readonly<Record<ModelProvider, ModelGateway>> = {
  gateway_a: {
    name: 'OpenRouter',
    base: 'https://openrouter.ai/api/v1',
    keyVariable: 'GATEWAY_A_API_KEY',
    baseVariable: 'GATEWAY_A_API_BASE',
    builtIn: [
      builtIn(freeAlias, 'Free', {
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
      builtIn('nvidia/nemotron-3-super-120b-a12b', 'Nemotron 3 Super', { description: 'Reasoning and tools.' }),
      builtIn('openai/gpt-oss-120b', 'gpt-oss 120B', { contextTokens: 131_072 }),
    ],
  },
  gateway_c: {
    name: 'AnyRouter',
    base: 'https://anyrouter.dev/api/v1',
    keyVariable: 'GATEWAY_C_API_KEY',
    baseVariable: 'GATEWAY_C_API_BASE',
    builtIn: [builtIn('anyrouter/auto', 'Automatic', { description: 'Whichever model the gateway thinks fits best.' })],
  },
}

/** A model and the gateway that it is asked through. */
export interface ModelReference {
  provider: ModelProvider
  /** As the gateway calls it; may have colons of its own. */
  modelId: string
}

/** As people write it: `provider:model`. */
export const idOf = ({ provider, modelId }: ModelReference): string => `${provider}:${modelId}`

/** Undefined for a text that names no gateway or no model. */
export const parseModelReference = (text: string): ModelReference | undefined => {
  const colon = text.indexOf(':')
  const provider = ModelProvider.safeParse(text.slice(0, Math.max(colon, 0)).trim())
  const modelId = text.slice(colon + 1).trim()
  return provider.success && isModelId(modelId) ? { provider: provider.data, modelId } : undefined
}

/** What every model of a gateway is called like: no blanks, nothing that ends a line. */
export const isModelId = (text: string): boolean => /^[\w.@:/+~-]{1,200}$/.test(text)

export const wantedForm = `provider:model, with one of ${modelProviders.join(', ')} as the provider`

/** A setting that names a model; `isDefault` where nothing is set. */
export const modelReference = (fallback: string, doc: string): Setting<ModelReference & { isDefault: boolean }> => ({
  doc,
  audience: 'server',
  fallback,
  allowed: 'provider:model',
  parse: (given) => {
    const parsed = parseModelReference(given ?? fallback)
    if (parsed === undefined) throw new Error(`must be ${wantedForm}`)
    return { ...parsed, isDefault: given === undefined }
  },
})
