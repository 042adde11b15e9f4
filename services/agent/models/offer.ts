import { modelProviders, type ModelProvider, type OfferedModel } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { isReplaced } from './access.ts'
import { modelSettings } from './config.ts'
import { freeAlias, gateways, type KnownModel, idOf, type ModelReference } from './gateways.ts'
import type { LiveList } from './read-live-list.ts'

/** The live lists that are known, by gateway. */
export type Lists = Partial<Record<ModelProvider, LiveList | undefined>>

/** A model and the gateway that it is asked through, with all that is known of it. */
export type Candidate = ModelReference & KnownModel

/**
 * Every model that may be asked for: those the operator names, those that are built in, the presets, and the best of the live
 * lists. Each once, with what a live list tells where nobody before says it.
 */
export const candidates = (env: Environment, lists: Lists): Candidate[] => {
  const given = read(modelSettings, env)
  const { isDefault, ...configured } = given.LLM_MODEL
  const extra = given.LLM_EXTRA_MODELS.map(({ provider, modelId, ...told }) => ({
    ...plain({ provider, modelId }),
    ...told,
  }))
  const all = [
    ...extra,
    ...(isDefault ? [] : [plain(configured)]),
    ...modelProviders.flatMap((provider) => gateways[provider].builtIn.map((model) => ({ provider, ...model }))),
    ...modelProviders.flatMap((provider) =>
      fromLive(env, provider, lists[provider]).map((model) => ({ provider, ...model })),
    ),
  ]
  const once = new Map<string, Candidate>()
  for (const model of all) once.set(idOf(model), once.get(idOf(model)) ?? withTold(env, model, lists))
  return [...once.values()]
}

/** Whether a model is there where the operator's key for its gateway leads. */
export const isThere = (env: Environment, { provider, source }: Candidate): boolean =>
  source !== 'built-in' || !isReplaced(env, provider)

/** A model of which only the operator speaks. */
export const plain = ({ provider, modelId }: ModelReference): Candidate => ({
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

/** What its live list tells of a model, where nobody before it says anything. */
const withTold = (env: Environment, model: Candidate, lists: Lists): Candidate => {
  const told = lists[model.provider]?.models.find(({ modelId }) => modelId === realModel(env, model))
  if (!told) return model
  return {
    ...model,
    name: model.name === model.modelId ? told.name : model.name,
    description: model.description || told.description,
    contextTokens: model.contextTokens ?? told.contextTokens,
    price: model.price ?? told.price,
    supportsTools: model.supportsTools ?? told.supportsTools,
    supportsVision: model.supportsVision ?? told.supportsVision,
  }
}

/** What the gateway is asked for. */
export const realModel = (env: Environment, { provider, modelId }: ModelReference): string =>
  provider === 'gateway_a' && modelId === freeAlias ? read(modelSettings, env).GATEWAY_A_FREE_FALLBACK_MODEL : modelId

const fromLive = (env: Environment, provider: ModelProvider, list: LiveList | undefined): KnownModel[] => {
  if (!list) return []
  const given = read(modelSettings, env)
  const able = ({ supportsTools }: KnownModel) => supportsTools !== false
  switch (provider) {
    case 'gateway_a':
      return list.models.filter(able).slice(0, given.GATEWAY_A_TOP_MODELS_N)
    case 'gateway_b':
      return list.models.filter(able).slice(0, given.GATEWAY_B_TOP_MODELS_N)
    case 'gateway_c': {
      const looked = byUse(list).slice(0, given.GATEWAY_C_METRICS_CANDIDATE_CAP)
      const presets = given.GATEWAY_C_PRESETS ? (list.presets ?? []).slice(0, given.GATEWAY_C_PRESETS_MAX) : []
      return [...presets, ...looked.filter(able).slice(0, given.GATEWAY_C_TOP_MODELS_N)]
    }
  }
}

/** The most used first, the others behind them in their own order. */
const byUse = ({ models, mostUsed }: LiveList): KnownModel[] => {
  const ranks = new Map(mostUsed.map((id, rank) => [id, rank]))
  const rankOf = ({ modelId }: KnownModel) => ranks.get(modelId) ?? mostUsed.length
  return models.toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** As callers see it. */
export const shown = ({ provider, ...model }: Candidate, available: boolean): OfferedModel => ({
  id: idOf({ provider, modelId: model.modelId }),
  modelId: model.modelId,
  provider,
  name: model.name,
  description: model.description,
  source: model.source,
  contextLength: model.contextTokens,
  formattedContextLength: model.contextTokens === null ? null : compact.format(model.contextTokens),
  isFree: model.price?.inputPerMillion === 0 && model.price.outputPerMillion === 0,
  available,
  pricing: model.price,
  supportsTools: model.supportsTools,
  // The agent asks in no other way.
  supportsStreaming: true,
  supportsVision: model.supportsVision,
})

/** For people: 131K, 1.05M. */
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
