import { type ModelProvider, modelProviders } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { modelSettings } from './config.ts'
import { gateways } from './gateways.ts'

/** Where a gateway is asked, and with which key. */
export interface GatewayAccess {
  base: URL
  /** Whether the operator chose the address. */
  ownAddress: boolean
  key: string
  /** The variable that the key comes from, or whose it is. */
  keyFrom: string
}

/**
 * The operator's way to a gateway; undefined without a key. A gateway's own key goes to the gateway's own address. `LLM_API_KEY` serves
 * every gateway without a key of its own, at `LLM_API_BASE` where that is set.
 */
export const operatorAccess = (env: Environment, provider: ModelProvider): GatewayAccess | undefined => {
  const given = read(modelSettings, env)
  const { keyVariable } = gateways[provider]
  const own = given[keyVariable]?.trim()
  if (own) return { ...addressOf(env, provider), key: own, keyFrom: keyVariable }
  const generic = given.LLM_API_KEY?.trim()
  if (!generic) return undefined
  const address = given.LLM_API_BASE ? { base: given.LLM_API_BASE, ownAddress: true } : addressOf(env, provider)
  return { ...address, key: generic, keyFrom: 'LLM_API_KEY' }
}

/** The way of somebody who brings a key of their own, which goes where the gateway's own key would. */
export const ownAccess = (env: Environment, provider: ModelProvider, key: string, keyFrom: string): GatewayAccess => ({
  ...addressOf(env, provider),
  key,
  keyFrom,
})

/** Where a gateway is without regard to the generic variables. */
export const addressOf = (env: Environment, provider: ModelProvider): Pick<GatewayAccess, 'base' | 'ownAddress'> => {
  const { base, baseVariable } = gateways[provider]
  const chosen = read(modelSettings, env)[baseVariable]
  return chosen ? { base: chosen, ownAddress: true } : { base: new URL(base), ownAddress: false }
}

/**
 * Whether the operator means a key for this gateway: its own, or `LLM_API_KEY` where `LLM_MODEL` names the gateway. Other gateways get
 * `LLM_API_KEY` only when a person chooses one of their models.
 */
export const hasDesignatedKey = (env: Environment, provider: ModelProvider): boolean => {
  const access = operatorAccess(env, provider)
  if (access === undefined) return false
  return access.keyFrom === gateways[provider].keyVariable || read(modelSettings, env).LLM_MODEL.provider === provider
}

/**
 * Whether `LLM_API_BASE` stands for a gateway that `LLM_MODEL` does not name: nobody knows of the models of that gateway whether they
 * are there too.
 */
export const isReplaced = (env: Environment, provider: ModelProvider): boolean =>
  read(modelSettings, env).LLM_API_BASE !== undefined &&
  operatorAccess(env, provider) !== undefined &&
  !hasDesignatedKey(env, provider)

/** Variables that would give a gateway a key. */
export const missingOf = (env: Environment, provider: ModelProvider): string[] =>
  operatorAccess(env, provider) ? [] : [gateways[provider].keyVariable, 'LLM_API_KEY']

/** Gateways that the operator has a key for. */
export const configuredProviders = (env: Environment): ModelProvider[] =>
  modelProviders.filter((provider) => operatorAccess(env, provider) !== undefined)

/** A path below the base of a gateway. */
export const below = (base: URL, path: string): URL => {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`
  return url
}
