import { ModelProvider, modelProviders } from '#proto/models.ts'
import type { Setting } from '#shared/config/setting.ts'

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
