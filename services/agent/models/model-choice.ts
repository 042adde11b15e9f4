import type OpenAI from 'openai'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { type ModelPrice, type ModelProvider, modelProviders } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import {
  listConfiguredProviders,
  type GatewayAccess,
  hasDesignatedKey,
  listMissingKeyVariables,
  getOperatorAccess,
  getCallerAccess,
} from './gateway-access.ts'
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
} from './offered-models.ts'

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

/** Assumed context length of a model if it is unknown, in tokens. Models that call tools have at least this length. */
export const defaultContextTokens = 32_768

/** Returns the default model; undefined if no gateway has a key. */
export const chooseDefaultModel = (
  env: Environment,
  ownProviders: readonly ModelProvider[],
): ModelReference | undefined => {
  const { isDefault, ...configured } = parseSettings(modelSettings, env).LLM_MODEL
  const usable = [...listConfiguredProviders(env), ...ownProviders]
  if (usable.includes(configured.provider)) return configured
  // Only the built-in default is replaced. A model that the operator set is used even without a key.
  const [provider] = isDefault ? usable : []
  return provider && { provider, modelId: modelGateways[provider].builtIn[0].modelId }
}

interface ModelRequest {
  requested: string | null
  call: CallContext
  /** Gateways for which the caller has a key. */
  ownProviders: readonly ModelProvider[]
}

/**
 * Returns the model that a request names, otherwise the default model. Throws `invalid` for a malformed reference,
 * `forbidden` if a guest chooses a model, and `unavailable` if there is no default model.
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
  if (requested === null) return chooseDefaultModel(env, ownProviders) ?? throwUnconfigured(env)
  const reference = parseModelReference(requested)
  if (reference === undefined)
    throw new ServiceError('invalid', `model must be ${modelReferenceFormat}`, { details: { parameter: 'model' } })
  return reference
}

/**
 * Returns a model with its known properties. Throws `not-found` if the model is not offered, unless the caller supplied
 * the key.
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

/** API keys of the caller. They take precedence over those of the operator. */
export interface CallerApiKeys {
  /** The key of the request, for the gateway of the requested model. */
  request: string | undefined
  /** The access from the caller's sign-in with AnyRouter. */
  signedIn: GatewayAccess | undefined
}

/** Returns the access to a gateway. Prefers the key of the request, then that of the sign-in, then the operator's. */
export const chooseGatewayAccess = (
  env: Environment,
  provider: ModelProvider,
  { request, signedIn }: CallerApiKeys,
) => {
  if (request !== undefined)
    return { ...getCallerAccess(env, provider, requireValidKey(request), 'the request'), isOwn: true }
  if (provider === 'gateway_c' && signedIn) return { ...signedIn, isOwn: true }
  return { ...(getOperatorAccess(env, provider) ?? throwUnconfigured(env, provider)), isOwn: false }
}

const requireValidKey = (key: string): string => {
  if (/^[\x21-\x7e]{8,512}$/.test(key)) return key
  throw new ServiceError('invalid', 'invalid apiKey: must have 8 to 512 printable ASCII characters without spaces', {
    details: { parameter: 'apiKey' },
  })
}

/**
 * Returns the fallback model: the free router of OpenRouter for the free model, null for all other models. Also null if
 * the base URL is configured, because other servers do not have that router.
 */
export const findFallbackModel = (
  env: Environment,
  reference: ModelReference,
  { ownAddress }: GatewayAccess,
): string | null => {
  if (reference.provider !== 'gateway_a' || reference.modelId !== freeModelAlias || ownAddress) return null
  return resolveModelId(env, reference) === freeRouterModelId ? null : freeRouterModelId
}

const throwUnconfigured = (env: Environment, provider?: ModelProvider): never => {
  const missing = new Set(
    (provider ? [provider] : modelProviders).flatMap((each) => listMissingKeyVariables(env, each)),
  )
  const sentence = `no key is set for ${provider ?? 'a language model'}: set ${[...missing].join(' or ')}`
  throw new ServiceError('unavailable', sentence, {
    details: { reason: 'provider-not-configured', missing: [...missing] },
  })
}
