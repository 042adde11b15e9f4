import type OpenAI from 'openai'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { type ModelPrice, type ModelProvider, modelProviders } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import {
  configuredProviders,
  type GatewayAccess,
  hasDesignatedKey,
  listMissingKeyVariables,
  getOperatorAccess,
  getCallerAccess,
} from './access.ts'
import { modelSettings } from './config.ts'
import {
  freeModelAlias,
  freeRouterModelId,
  modelGateways,
  formatModelReference,
  type ModelReference,
  parseModelReference,
  modelReferenceFormat,
} from './gateways.ts'
import {
  type ModelCandidate,
  listModelCandidates,
  isExpectedAtGateway,
  type LiveListsByGateway,
  createUnknownModel,
  resolveModelId,
} from './offer.ts'

/** A model and its configured client. */
export interface ChosenModel {
  /** `provider:model`, as requested. */
  id: string
  provider: ModelProvider
  /** The model id in requests to the gateway. */
  model: string
  /** A client with base URL, key, headers, timeout and retries of the gateway. */
  client: OpenAI
  /** The model of the same gateway to use if this one is removed or overloaded. */
  fallback: string | null
  contextTokens: number
  price: ModelPrice | null
}

/** The context length that is assumed if it is unknown. Models that call tools have at least this length. */
export const defaultContextTokens = 32_768

/** Returns the default model; undefined if no gateway has a key. */
export const chooseDefaultModel = (
  env: Environment,
  ownProviders: readonly ModelProvider[],
): ModelReference | undefined => {
  const { isDefault, ...configured } = parseSettings(modelSettings, env).LLM_MODEL
  const usable = [...configuredProviders(env), ...ownProviders]
  if (usable.includes(configured.provider)) return configured
  // Only the built-in default is replaced. A model that the operator set is used even without a key.
  const [provider] = isDefault ? usable : []
  return provider && { provider, modelId: modelGateways[provider].builtIn[0].modelId }
}

interface ModelRequest {
  requested: string | null
  call: Call
  /** Gateways for which the caller has a key. */
  ownProviders: readonly ModelProvider[]
}

/**
 * Resolves which model a request refers to. Throws `invalid` for malformed references, and `forbidden` if a guest
 * chooses a model.
 */
export const resolveModelReference = (
  env: Environment,
  { requested, call, ownProviders }: ModelRequest,
): ModelReference => {
  const isGuest = call.identity.kind === 'guest'
  if (isGuest && (requested !== null || ownProviders.length > 0))
    throw new ServiceError('forbidden', 'guests can only use the default model; sign in to choose another', {
      details: { parameter: 'model' },
    })
  if (isGuest && hasDesignatedKey(env, 'gateway_a')) return { provider: 'gateway_a', modelId: freeModelAlias }
  if (requested === null) return chooseDefaultModel(env, ownProviders) ?? refuseUnconfigured(env)
  const reference = parseModelReference(requested)
  if (reference === undefined)
    throw new ServiceError('invalid', `model must be ${modelReferenceFormat}`, { details: { parameter: 'model' } })
  return reference
}

/**
 * Returns the known properties of a model. Throws `not-found` if it is not offered, unless the caller supplies the key.
 */
export const findModelCandidate = (
  env: Environment,
  reference: ModelReference,
  { lists, isOwn }: { lists: LiveListsByGateway; isOwn: boolean },
): ModelCandidate => {
  const offered = listModelCandidates(env, lists).filter((each) => isOwn || isExpectedAtGateway(env, each))
  const found = offered.find((each) => formatModelReference(each) === formatModelReference(reference))
  if (found) return found
  if (isOwn) return createUnknownModel(reference)
  const { provider, modelId } = reference
  const names = offered.filter((each) => each.provider === provider).map((each) => each.modelId)
  throw createNotFoundError(`model of ${provider}`, modelId, names, 'model')
}

/** Keys of the caller, which take precedence over those of the operator. */
export interface CallerApiKeys {
  /** The key of the request, for the gateway of the requested model. */
  request: string | undefined
  /** The key from the caller's sign-in with gateway C. */
  signedIn: GatewayAccess | undefined
}

/** Returns the access to a gateway: with the key of the request, else of the sign-in, else of the operator. */
export const chooseGatewayAccess = (
  env: Environment,
  provider: ModelProvider,
  { request, signedIn }: CallerApiKeys,
) => {
  if (request !== undefined)
    return { ...getCallerAccess(env, provider, requireKey(request), 'the request'), isOwn: true }
  if (provider === 'gateway_c' && signedIn) return { ...signedIn, isOwn: true }
  return { ...(getOperatorAccess(env, provider) ?? refuseUnconfigured(env, provider)), isOwn: false }
}

const requireKey = (key: string): string => {
  if (/^[\x21-\x7e]{8,512}$/.test(key)) return key
  throw new ServiceError('invalid', 'apiKey must be the key of a model gateway', { details: { parameter: 'apiKey' } })
}

/**
 * Returns the fallback of the free model: the free router of OpenRouter, which servers at other addresses do not have.
 * Null for all other models.
 */
export const findFallbackModel = (
  env: Environment,
  reference: ModelReference,
  { ownAddress }: GatewayAccess,
): string | null => {
  if (reference.provider !== 'gateway_a' || reference.modelId !== freeModelAlias || ownAddress) return null
  return resolveModelId(env, reference) === freeRouterModelId ? null : freeRouterModelId
}

const refuseUnconfigured = (env: Environment, provider?: ModelProvider): never => {
  const missing = new Set(
    (provider ? [provider] : modelProviders).flatMap((each) => listMissingKeyVariables(env, each)),
  )
  const sentence = `no key is set for ${provider ?? 'a language model'}: set ${[...missing].join(' or ')}`
  throw new ServiceError('unavailable', sentence, {
    details: { reason: 'provider-not-configured', missing: [...missing] },
  })
}
