import type { Logger } from 'pino'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import {
  type ConfigCheck,
  type ModelProvider,
  modelProviders,
  type ModelList,
  ModelSettingsSecrets,
  type OfferedModel,
  type modelMethods,
} from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { Net } from '#shared/net/net.ts'
import type { TransitKeyPair } from '#shared/seal/transit.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import { listConfiguredProviders, getOperatorAccess } from './gateway-access.ts'
import { shouldUseLiveList, checkModelConfig } from './check-config.ts'
import {
  chooseGatewayAccess,
  findModelCandidate,
  type ChosenModel,
  chooseDefaultModel,
  findFallbackModel,
  defaultContextTokens,
  type CallerApiKeys,
  resolveModelReference,
} from './model-choice.ts'
import { openModelClient } from './client.ts'
import { modelSettings } from './config.ts'
import { openLiveLists } from './live-lists.ts'
import { formatModelReference, type ModelReference } from './gateways.ts'
import {
  type ModelCandidate,
  listModelCandidates,
  isExpectedAtGateway,
  type LiveListsByGateway,
  resolveModelId,
  toOfferedModel,
} from './offered-models.ts'
import type { SavedModelSettings, SettingsChange } from './saved-settings.ts'
import { openSignIn, type SignIn } from './sign-in.ts'

/** The language models and their clients. */
export interface Models extends AsyncDisposable {
  /**
   * Returns the requested model, or the default model for null. `requestKey` takes precedence over all other keys.
   * Throws `unavailable` with the reason `provider-not-configured` if there is no key, `invalid` or `not-found` for an
   * unknown model, and `forbidden` if a guest chooses a model.
   */
  choose(requested: string | null, call: CallContext, requestKey?: string): Promise<ChosenModel>
  /** Returns the models that the caller can choose. */
  offered(call: CallContext): Promise<ModelList>
  /** Checks the model configuration. The result never contains values of variables. */
  check(): Promise<ConfigCheck>
  signIn: SignIn
  /** The tracer of requests to models. */
  tracer: Tracer
}

type ModelDeps = Pick<ServiceContext, 'env' | 'clock' | 'store'> & {
  net: Pick<Net, 'trusted'>
  log: Logger
  tracer: Tracer
  /** Reads changed settings into `env` before they are used. */
  refresh?(): Promise<void>
}

/** Opens the language models. Gateways are contacted on demand. */
export const openModels = (parts: ModelDeps): Models => {
  const { env, refresh = async () => {} } = parts
  const live = openLiveLists(parts)
  const signIn = openSignIn(parts)
  const listsOf = async (providers: readonly ModelProvider[]): Promise<LiveListsByGateway> =>
    Object.fromEntries(
      await Promise.all(
        providers.map(async (provider) => {
          const access = shouldUseLiveList(env, provider) ? getOperatorAccess(env, provider) : undefined
          return [provider, access && (await live.of(provider, access))] as const
        }),
      ),
    )
  return {
    signIn,
    tracer: parts.tracer,
    choose: async (requested, call, request) => {
      await refresh()
      const own = { request, signedIn: await signIn.accessOf(call) }
      const reference = resolveModelReference(env, { requested, call, ownProviders: listCallerProviders(env, own) })
      const access = chooseGatewayAccess(env, reference.provider, own)
      const lists = await listsOf([reference.provider])
      return openChosenModel(parts, { reference, access, lists })
    },
    offered: async (call) => {
      await refresh()
      const own = { request: undefined, signedIn: await signIn.accessOf(call) }
      return listOfferedModels(env, listCallerProviders(env, own), await listsOf(modelProviders))
    },
    check: async () => {
      await refresh()
      return checkModelConfig(env, await listsOf(modelProviders))
    },
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  }
}

/**
 * Returns the gateways for which the caller has a key. A key in the request counts for the gateway of the default
 * model.
 */
const listCallerProviders = (env: Environment, { request, signedIn }: CallerApiKeys): ModelProvider[] => [
  ...(request === undefined ? [] : [parseSettings(modelSettings, env).LLM_MODEL.provider]),
  ...(signedIn ? (['gateway_c'] as const) : []),
]

interface ModelChoice {
  reference: ModelReference
  access: ReturnType<typeof chooseGatewayAccess>
  lists: LiveListsByGateway
}

const openChosenModel = async (parts: ModelDeps, { reference, access, lists }: ModelChoice): Promise<ChosenModel> => {
  const { env } = parts
  const { contextTokens, price } = findModelCandidate(env, reference, { lists, isOwn: access.isOwn })
  return {
    id: formatModelReference(reference),
    provider: reference.provider,
    model: resolveModelId(env, reference),
    client: await openModelClient(parts, reference.provider, access),
    fallback: findFallbackModel(env, reference, access),
    contextTokens: contextTokens ?? defaultContextTokens,
    price,
  }
}

const listOfferedModels = (env: Environment, own: readonly ModelProvider[], lists: LiveListsByGateway): ModelList => {
  const usable = new Set([...listConfiguredProviders(env), ...own])
  const isAvailable = (each: ModelCandidate): boolean =>
    usable.has(each.provider) && (own.includes(each.provider) || isExpectedAtGateway(env, each))
  const chosen = chooseDefaultModel(env, own)
  const standard = chosen ? formatModelReference(chosen) : null
  return {
    models: listModelCandidates(env, lists)
      .map((each) => toOfferedModel(each, isAvailable(each)))
      .toSorted((a, b) => getSortRank(a, standard) - getSortRank(b, standard)),
    configuredProviders: modelProviders.filter((each) => usable.has(each)),
    defaultModel: standard,
  }
}

/** Returns a sort key that puts the default model first and unavailable models last. */
const getSortRank = ({ id, available }: OfferedModel, standard: string | null): number => {
  if (id === standard) return 0
  return available ? 1 : 2
}

interface ModelHandlerDeps {
  models: Models
  savedModels: SavedModelSettings
  /** The key pair for API keys that the gateway encrypts. */
  transit: TransitKeyPair
  log: Logger
}

/** Returns the handlers for language models. */
export const createModelHandlers = ({
  models,
  savedModels,
  transit,
  log,
}: ModelHandlerDeps): ServiceHandlers<Service<typeof modelMethods>> => ({
  ...createSettingsHandlers({ savedModels, transit, log }),
  models: (_input, call) => models.offered(call),
  modelCheck: () => models.check(),
  modelSignIn: (_input, call) => models.signIn.state(call),
  beginModelSignIn: async (wanted, call) => ({ url: await models.signIn.begin(wanted, call) }),
  endModelSignIn: (sentBack, call) => models.signIn.end(sentBack, call),
  endModelSession: (_input, call) => models.signIn.forget(call),
})

type SettingsHandlers = Pick<
  ServiceHandlers<Service<typeof modelMethods>>,
  'modelSettings' | 'modelSecretsKey' | 'updateModelSettings' | 'deleteModelSettings' | 'testModelSettings'
>

const createSettingsHandlers = ({ savedModels, transit, log }: Omit<ModelHandlerDeps, 'models'>): SettingsHandlers => {
  const readChange = async (input: Parameters<SettingsHandlers['updateModelSettings']>[0]): Promise<SettingsChange> => {
    const secrets = input.encrypted === undefined ? {} : await transit.decrypt(input.encrypted, ModelSettingsSecrets)
    return { ...input.settings, ...secrets, isCallerLocal: input.isCallerLocal }
  }
  return {
    modelSettings: () => savedModels.describe(),
    modelSecretsKey: () => transit.publicKey(),
    updateModelSettings: async (input) => savedModels.save(await readChange(input)),
    deleteModelSettings: () => savedModels.remove(),
    testModelSettings: async (input, call) => {
      // Loaded on demand, because the library of the model gateways is large.
      const { testDefaultModel } = await import('./test-model.ts')
      return testDefaultModel(await savedModels.preview(await readChange(input)), log, call)
    },
  }
}
