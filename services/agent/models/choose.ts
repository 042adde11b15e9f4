import type OpenAI from 'openai'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { type ModelPrice, type ModelProvider, modelProviders } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { noSuch } from '#shared/text/no-such.ts'
import {
  configuredProviders,
  type GatewayAccess,
  hasDesignatedKey,
  missingOf,
  operatorAccess,
  ownAccess,
} from './access.ts'
import { modelSettings } from './config.ts'
import {
  freeAlias,
  freeRouter,
  gateways,
  idOf,
  type ModelReference,
  parseModelReference,
  wantedForm,
} from './gateways.ts'
import { type Candidate, candidates, isThere, type Lists, plain, realModel } from './offer.ts'

/** A model that answers, and the way to it. */
export interface ChosenModel {
  /** `provider:model`, as it was asked for. */
  id: string
  provider: ModelProvider
  /** As the gateway is to be asked for it. */
  model: string
  /** Base, key, headers, timeout and retries are set. */
  client: OpenAI
  /** The model of the same gateway to ask when this one is gone or overloaded. */
  fallback: string | null
  contextTokens: number
  price: ModelPrice | null
}

/** What is told of a model's size where nobody knows it; every model that calls tools reads as much. */
export const leastContextTokens = 32_768

/** The model that answers when nobody asks for another; undefined while no gateway has a key. */
export const defaultModel = (env: Environment, ownProviders: readonly ModelProvider[]): ModelReference | undefined => {
  const { isDefault, ...configured } = read(modelSettings, env).LLM_MODEL
  const usable = [...configuredProviders(env), ...ownProviders]
  if (usable.includes(configured.provider)) return configured
  // What the operator has chosen stands, even where it cannot be asked; the product's own choice gives way.
  const [provider] = isDefault ? usable : []
  return provider && { provider, modelId: gateways[provider].builtIn[0].modelId }
}

interface Wish {
  asked: string | null
  call: Call
  /** Gateways that the caller has a key of their own for. */
  ownProviders: readonly ModelProvider[]
}

/** Which model a caller means. Throws `invalid` for a text that is none, and `forbidden` for guests who choose. */
export const referenceFor = (env: Environment, { asked, call, ownProviders }: Wish): ModelReference => {
  const isGuest = call.identity.kind === 'guest'
  if (isGuest && (asked !== null || ownProviders.length > 0))
    throw new ServiceError('forbidden', 'guests can only use the default model; sign in to choose another', {
      details: { parameter: 'model' },
    })
  if (isGuest && hasDesignatedKey(env, 'gateway_a')) return { provider: 'gateway_a', modelId: freeAlias }
  if (asked === null) return defaultModel(env, ownProviders) ?? refuseUnconfigured(env)
  const reference = parseModelReference(asked)
  if (reference === undefined)
    throw new ServiceError('invalid', `model must be ${wantedForm}`, { details: { parameter: 'model' } })
  return reference
}

/** What is known of a model. Throws `not-found` for one that is not offered, unless the caller pays for it. */
export const candidateFor = (
  env: Environment,
  reference: ModelReference,
  { lists, isOwn }: { lists: Lists; isOwn: boolean },
): Candidate => {
  const offered = candidates(env, lists).filter((each) => isOwn || isThere(env, each))
  const found = offered.find((each) => idOf(each) === idOf(reference))
  if (found) return found
  if (isOwn) return plain(reference)
  const { provider, modelId } = reference
  const names = offered.filter((each) => each.provider === provider).map((each) => each.modelId)
  throw noSuch(`model of ${provider}`, modelId, names, 'model')
}

/** Keys that callers have of their own, which go before the operator's. */
export interface OwnKeys {
  /** That came with the request, for the gateway of the model that is asked. */
  request: string | undefined
  /** That gateway C gave when the caller signed in. */
  signedIn: GatewayAccess | undefined
}

/** The way to a gateway: the key of the request, else that of the caller's sign-in, else the operator's. */
export const accessFor = (env: Environment, provider: ModelProvider, { request, signedIn }: OwnKeys) => {
  if (request !== undefined) return { ...ownAccess(env, provider, requireKey(request), 'the request'), isOwn: true }
  if (provider === 'gateway_c' && signedIn) return { ...signedIn, isOwn: true }
  return { ...(operatorAccess(env, provider) ?? refuseUnconfigured(env, provider)), isOwn: false }
}

const requireKey = (key: string): string => {
  if (/^[\x21-\x7e]{8,512}$/.test(key)) return key
  throw new ServiceError('invalid', 'apiKey must be the key of a model gateway', { details: { parameter: 'apiKey' } })
}

/** What is asked when a free model is gone; only the gateway itself has such a way, not whoever stands at an operator's address. */
export const fallbackOf = (
  env: Environment,
  reference: ModelReference,
  { ownAddress }: GatewayAccess,
): string | null => {
  if (reference.provider !== 'gateway_a' || reference.modelId !== freeAlias || ownAddress) return null
  return realModel(env, reference) === freeRouter ? null : freeRouter
}

const refuseUnconfigured = (env: Environment, provider?: ModelProvider): never => {
  const missing = new Set((provider ? [provider] : modelProviders).flatMap((each) => missingOf(env, each)))
  const sentence = `no key is set for ${provider ?? 'a language model'}: set ${[...missing].join(' or ')}`
  throw new ServiceError('unavailable', sentence, {
    details: { reason: 'provider-not-configured', missing: [...missing] },
  })
}
