import { type ModelProvider, modelProviders } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { modelSettings } from './config.ts'
import { gateways } from './gateways.ts'

/** The base URL and the API key for requests to a gateway. */
export interface GatewayAccess {
  base: URL
  /** Whether a variable sets the base URL, instead of the default of the gateway. */
  ownAddress: boolean
  key: string
  /** The source of the key: a variable, the request or the sign-in. */
  keyFrom: string
}

/**
 * Returns the operator's access to a gateway; undefined without a key. A gateway's own key is sent to its own address.
 * `LLM_API_KEY` is used for every gateway without its own key, at `LLM_API_BASE` if set.
 */
export const operatorAccess = (env: Environment, provider: ModelProvider): GatewayAccess | undefined => {
  const settings = read(modelSettings, env)
  const { keyVariable } = gateways[provider]
  const own = settings[keyVariable]?.trim()
  if (own) return { ...addressOf(env, provider), key: own, keyFrom: keyVariable }
  const generic = settings.LLM_API_KEY?.trim()
  if (!generic) return undefined
  const address = settings.LLM_API_BASE ? { base: settings.LLM_API_BASE, ownAddress: true } : addressOf(env, provider)
  return { ...address, key: generic, keyFrom: 'LLM_API_KEY' }
}

/** Returns the access with a key of the user, which is sent only to the address of the gateway itself. */
export const ownAccess = (env: Environment, provider: ModelProvider, key: string, keyFrom: string): GatewayAccess => ({
  ...addressOf(env, provider),
  key,
  keyFrom,
})

/** Returns the address of a gateway, ignoring `LLM_API_BASE`. */
export const addressOf = (env: Environment, provider: ModelProvider): Pick<GatewayAccess, 'base' | 'ownAddress'> => {
  const { base, baseVariable } = gateways[provider]
  const chosen = read(modelSettings, env)[baseVariable]
  return chosen ? { base: chosen, ownAddress: true } : { base: new URL(base), ownAddress: false }
}

/**
 * Reports whether a key is designated for this gateway: its own, or `LLM_API_KEY` if `LLM_MODEL` names the gateway.
 * Other gateways receive `LLM_API_KEY` only when a user chooses one of their models.
 */
export const hasDesignatedKey = (env: Environment, provider: ModelProvider): boolean => {
  const access = operatorAccess(env, provider)
  if (access === undefined) return false
  return access.keyFrom === gateways[provider].keyVariable || read(modelSettings, env).LLM_MODEL.provider === provider
}

/**
 * Reports whether `LLM_API_BASE` replaces a gateway that `LLM_MODEL` does not name. The models of that gateway may not
 * exist there.
 */
export const isReplaced = (env: Environment, provider: ModelProvider): boolean =>
  read(modelSettings, env).LLM_API_BASE !== undefined &&
  operatorAccess(env, provider) !== undefined &&
  !hasDesignatedKey(env, provider)

/** Returns the variables of which one must be set for a gateway without a key; empty if it has a key. */
export const missingOf = (env: Environment, provider: ModelProvider): string[] =>
  operatorAccess(env, provider) ? [] : [gateways[provider].keyVariable, 'LLM_API_KEY']

/** Returns the gateways that have a key of the operator. */
export const configuredProviders = (env: Environment): ModelProvider[] =>
  modelProviders.filter((provider) => operatorAccess(env, provider) !== undefined)

/** Returns the URL of a path below the base URL of a gateway. */
export const below = (base: URL, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`
  return url
}
