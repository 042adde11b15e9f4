import { modelProviders, type ModelProvider, type OfferedModel } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { isReplacedByApiBase } from './gateway-access.ts'
import { modelSettings } from './config.ts'
import {
  freeModelAlias,
  modelGateways,
  type KnownModel,
  formatModelReference,
  type ModelReference,
} from './gateways.ts'
import type { LiveList } from './read-live-list.ts'

/** The available live lists by gateway. */
export type LiveListsByGateway = Partial<Record<ModelProvider, LiveList | undefined>>

/** A model that may be offered, with its gateway and properties. */
export type ModelCandidate = ModelReference & KnownModel

/**
 * Returns every model that can be requested, without duplicates: configured models, built-in models, presets, and the
 * first models of the live lists. Takes missing properties from the live lists.
 */
export const listModelCandidates = (env: Environment, lists: LiveListsByGateway): ModelCandidate[] => {
  const settings = parseSettings(modelSettings, env)
  const { isDefault, ...configured } = settings.LLM_MODEL
  const extra = settings.LLM_EXTRA_MODELS.map(({ provider, modelId, ...facts }) => ({
    ...createUnknownModel({ provider, modelId }),
    ...facts,
  }))
  const all = [
    ...extra,
    ...(isDefault ? [] : [createUnknownModel(configured)]),
    ...modelProviders.flatMap((provider) => modelGateways[provider].builtIn.map((model) => ({ provider, ...model }))),
    ...modelProviders.flatMap((provider) =>
      selectLiveModels(env, provider, lists[provider]).map((model) => ({ provider, ...model })),
    ),
  ]
  const once = new Map<string, ModelCandidate>()
  for (const model of all)
    once.set(formatModelReference(model), once.get(formatModelReference(model)) ?? fillFromLiveList(env, model, lists))
  return [...once.values()]
}

/** Returns whether the server that receives the operator's key for a gateway probably has this model. */
export const isExpectedAtGateway = (env: Environment, { provider, source }: ModelCandidate): boolean =>
  source !== 'built-in' || !isReplacedByApiBase(env, provider)

/** Returns a model whose properties are unknown. */
export const createUnknownModel = ({ provider, modelId }: ModelReference): ModelCandidate => ({
  provider,
  modelId,
  name: modelId,
  description: '',
  source: 'extra',
  contextTokens: null,
  price: null,
  supportsTools: null,
  supportsVision: null,
})

/** Fills missing properties of a model from its live list. */
const fillFromLiveList = (env: Environment, model: ModelCandidate, lists: LiveListsByGateway): ModelCandidate => {
  const live = lists[model.provider]?.models.find(({ modelId }) => modelId === resolveModelId(env, model))
  if (!live) return model
  return {
    ...model,
    name: model.name === model.modelId ? live.name : model.name,
    description: model.description || live.description,
    contextTokens: model.contextTokens ?? live.contextTokens,
    price: model.price ?? live.price,
    supportsTools: model.supportsTools ?? live.supportsTools,
    supportsVision: model.supportsVision ?? live.supportsVision,
  }
}

/** Returns the model id for requests to the gateway, with the free alias resolved. */
export const resolveModelId = (env: Environment, { provider, modelId }: ModelReference): string =>
  provider === 'gateway_a' && modelId === freeModelAlias
    ? parseSettings(modelSettings, env).GATEWAY_A_FREE_FALLBACK_MODEL
    : modelId

const selectLiveModels = (env: Environment, provider: ModelProvider, list: LiveList | undefined): KnownModel[] => {
  if (!list) return []
  const settings = parseSettings(modelSettings, env)
  const able = ({ supportsTools }: KnownModel) => supportsTools !== false
  switch (provider) {
    case 'gateway_a':
      return list.models.filter(able).slice(0, settings.GATEWAY_A_TOP_MODELS_N)
    case 'gateway_b':
      return list.models.filter(able).slice(0, settings.GATEWAY_B_TOP_MODELS_N)
    case 'gateway_c': {
      const considered = sortByUsage(list).slice(0, settings.GATEWAY_C_METRICS_CANDIDATE_CAP)
      const presets = settings.GATEWAY_C_PRESETS ? (list.presets ?? []).slice(0, settings.GATEWAY_C_PRESETS_MAX) : []
      return [...presets, ...considered.filter(able).slice(0, settings.GATEWAY_C_TOP_MODELS_N)]
    }
  }
}

/** Sorts the models by usage, most used first. Models without usage keep their order at the end. */
const sortByUsage = ({ models, mostUsed }: LiveList): KnownModel[] => {
  const ranks = new Map(mostUsed.map((id, rank) => [id, rank]))
  const rankOf = ({ modelId }: KnownModel) => ranks.get(modelId) ?? mostUsed.length
  return models.toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Returns a model in the format of the contract. */
export const toOfferedModel = ({ provider, ...model }: ModelCandidate, available: boolean): OfferedModel => ({
  id: formatModelReference({ provider, modelId: model.modelId }),
  modelId: model.modelId,
  provider,
  name: model.name,
  description: model.description,
  source: model.source,
  contextLength: model.contextTokens,
  formattedContextLength: model.contextTokens === null ? null : compactFormat.format(model.contextTokens),
  isFree: model.price?.inputPerMillion === 0 && model.price.outputPerMillion === 0,
  available,
  pricing: model.price,
  supportsTools: model.supportsTools,
  // The agent only sends streaming requests.
  supportsStreaming: true,
  supportsVision: model.supportsVision,
})

/** Formats a number such as `131K` and `1.05M`. */
const compactFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
