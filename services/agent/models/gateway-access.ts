import { type ModelProvider, modelProviders } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { modelSettings } from './config.ts'
import { modelGateways } from './gateways.ts'

/** The base URL and the API key for requests to a model gateway. */
export interface GatewayAccess {
  base: URL
  /** Whether a variable sets the base URL; false for the default URL of the gateway. */
  ownAddress: boolean
  key: string
  /** The source of the key: a variable, the request or the sign-in. */
  keyFrom: string
}

/**
 * Returns the operator's access to a gateway; undefined without a key. The key of a gateway is sent only to its own
 * address. Gateways without a key of their own use `LLM_API_KEY`, which is sent to `LLM_API_BASE` if that is set.
 */
export const getOperatorAccess = (env: Environment, provider: ModelProvider): GatewayAccess | undefined => {
  const settings = parseSettings(modelSettings, env)
  const { keyVariable } = modelGateways[provider]
  const own = settings[keyVariable]?.trim()
  if (own) return { ...getGatewayBaseUrl(env, provider), key: own, keyFrom: keyVariable }
  const generic = settings.LLM_API_KEY?.trim()
  if (!generic) return undefined
  const address = settings.LLM_API_BASE
    ? { base: settings.LLM_API_BASE, ownAddress: true }
    : getGatewayBaseUrl(env, provider)
  return { ...address, key: generic, keyFrom: 'LLM_API_KEY' }
}

/** Returns the access with a key of the caller. The key is sent only to the gateway, never to `LLM_API_BASE`. */
export const getCallerAccess = (
  env: Environment,
  provider: ModelProvider,
  key: string,
  keyFrom: string,
): GatewayAccess => ({
  ...getGatewayBaseUrl(env, provider),
  key,
  keyFrom,
})

/** Returns the address of a gateway, ignoring `LLM_API_BASE`. */
export const getGatewayBaseUrl = (
  env: Environment,
  provider: ModelProvider,
): Pick<GatewayAccess, 'base' | 'ownAddress'> => {
  const { base, baseVariable } = modelGateways[provider]
  const chosen = parseSettings(modelSettings, env)[baseVariable]
  return chosen ? { base: chosen, ownAddress: true } : { base: new URL(base), ownAddress: false }
}

/**
 * Returns whether the operator's key is meant for this gateway: it is the gateway's own key, or `LLM_MODEL` names one of
 * its models. Other gateways receive `LLM_API_KEY` only if a user chooses one of their models.
 */
export const hasDesignatedKey = (env: Environment, provider: ModelProvider): boolean => {
  const access = getOperatorAccess(env, provider)
  if (access === undefined) return false
  return (
    access.keyFrom === modelGateways[provider].keyVariable ||
    parseSettings(modelSettings, env).LLM_MODEL.provider === provider
  )
}

/**
 * Returns whether requests to a gateway go to `LLM_API_BASE`, although `LLM_MODEL` names another gateway. The models of
 * the gateway may not exist there.
 */
export const isReplacedByApiBase = (env: Environment, provider: ModelProvider): boolean =>
  parseSettings(modelSettings, env).LLM_API_BASE !== undefined &&
  getOperatorAccess(env, provider) !== undefined &&
  !hasDesignatedKey(env, provider)

/** Returns the variables that can supply the missing key of a gateway; empty if the gateway has a key. */
export const listMissingKeyVariables = (env: Environment, provider: ModelProvider): string[] =>
  getOperatorAccess(env, provider) ? [] : [modelGateways[provider].keyVariable, 'LLM_API_KEY']

/** Returns the gateways for which the operator has configured a key. */
export const listConfiguredProviders = (env: Environment): ModelProvider[] =>
  modelProviders.filter((provider) => getOperatorAccess(env, provider) !== undefined)

/** Returns the URL of a path below the base URL of a gateway. */
export const joinUrlPath = (base: URL, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`
  return url
}
