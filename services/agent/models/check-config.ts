import { type modelListStates, type ConfigCheck, modelProviders, type ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { listMissingKeyVariables, getOperatorAccess, hasDesignatedKey } from './gateway-access.ts'
import { chooseDefaultModel } from './model-choice.ts'
import { modelSettings } from './config.ts'
import { modelGateways, formatModelReference } from './gateways.ts'
import type { LiveListsByGateway } from './offered-models.ts'

/** Checks the model configuration. The result contains names of variables, but never their values. */
export const checkModelConfig = (env: Environment, lists: LiveListsByGateway): ConfigCheck => {
  const chosen = chooseDefaultModel(env, [])
  return {
    active: chosen !== undefined,
    defaultModel: chosen ? formatModelReference(chosen) : null,
    providers: modelProviders.map((id) => {
      const access = getOperatorAccess(env, id)
      return {
        id,
        name: modelGateways[id].name,
        configured: access !== undefined,
        keyFrom: access?.keyFrom ?? null,
        ownAddress: access?.ownAddress ?? false,
        catalogue: getListState(shouldUseLiveList(env, id), lists[id] !== undefined),
        missing: listMissingKeyVariables(env, id),
      }
    }),
    notes: listNotes(env, lists),
  }
}

const getListState = (isUsed: boolean, isKnown: boolean): (typeof modelListStates)[number] => {
  if (!isUsed) return 'off'
  return isKnown ? 'live' : 'failed'
}

const listNotes = (env: Environment, lists: LiveListsByGateway): string[] => {
  const settings = parseSettings(modelSettings, env)
  const { provider, isDefault } = settings.LLM_MODEL
  const everyGatewayHasKey = modelProviders.every((each) => Boolean(settings[modelGateways[each].keyVariable]?.trim()))
  const all: [holds: boolean, note: string][] = [
    [
      !isDefault && !getOperatorAccess(env, provider),
      `LLM_MODEL names a model of ${provider}, which has no key: set ${listMissingKeyVariables(env, provider).join(' or ')}.`,
    ],
    [Boolean(settings.LLM_API_KEY) && everyGatewayHasKey, 'LLM_API_KEY is not used: every provider has its own key.'],
    [
      settings.LLM_API_BASE !== undefined && (everyGatewayHasKey || !settings.LLM_API_KEY),
      'LLM_API_BASE is not used: only LLM_API_KEY is sent there. The key of a provider is sent only to the base URL of that provider.',
    ],
    [
      settings.GATEWAY_C_PRESETS && lists.gateway_c?.presets === null,
      'Presets are unavailable: AnyRouter rejects the key for reading presets; check GATEWAY_C_API_KEY.',
    ],
  ]
  return all.flatMap(([holds, note]) => (holds ? [note] : []))
}

/** Returns whether the live list of a gateway is used: the list is enabled, and the gateway has a designated key. */
export const shouldUseLiveList = (env: Environment, provider: ModelProvider): boolean => {
  const settings = parseSettings(modelSettings, env)
  const switches = {
    gateway_a: settings.GATEWAY_A_DYNAMIC_MODELS,
    gateway_b: settings.GATEWAY_B_DYNAMIC_MODELS,
    gateway_c: settings.GATEWAY_C_DYNAMIC_MODELS,
  }
  return switches[provider] && hasDesignatedKey(env, provider)
}
