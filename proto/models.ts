import { z } from 'zod'
import { rpc } from './contract.ts'

/** Gateways that language models are asked through. */
export const modelProviders = ['gateway_a', 'gateway_b', 'gateway_c'] as const
/** One of them. */
export const ModelProvider = z.enum(modelProviders)
export type ModelProvider = z.infer<typeof ModelProvider>

/** `provider:model`, the model as its gateway calls it. */
export const ModelId = z.string().max(256)

/** US dollars for a million tokens. */
export const ModelPrice = z.object({ inputPerMillion: z.number().min(0), outputPerMillion: z.number().min(0) })
export type ModelPrice = z.infer<typeof ModelPrice>

/** Where it is known from: the product itself, the gateway's list, the operator, or the presets of the operator's workspace. */
export const modelSources = ['built-in', 'live', 'extra', 'preset'] as const

/** A model that may be asked for. What nobody tells of it is null. */
export const OfferedModel = z.object({
  id: ModelId,
  /** The part behind the provider. */
  modelId: z.string(),
  provider: ModelProvider,
  name: z.string(),
  description: z.string(),
  source: z.enum(modelSources),
  /** In tokens. */
  contextLength: z.int().min(1).nullable(),
  /** The same for people: `128K`, `1M`. */
  formattedContextLength: z.string().nullable(),
  isFree: z.boolean(),
  /** Whether there is a key for its gateway that the caller may use. */
  available: z.boolean(),
  pricing: ModelPrice.nullable(),
  supportsTools: z.boolean().nullable(),
  supportsStreaming: z.boolean(),
  supportsVision: z.boolean().nullable(),
})
export type OfferedModel = z.infer<typeof OfferedModel>

/** All models that the caller may ask for. */
export const ModelsOffered = z.object({
  models: z.array(OfferedModel).max(512),
  /** Gateways with a key that the caller may use. */
  configuredProviders: z.array(ModelProvider),
  /** What is asked when nobody says otherwise; null while no gateway has a key. */
  defaultModel: ModelId.nullable(),
})
export type ModelsOffered = z.infer<typeof ModelsOffered>

/** What the live list of a gateway is worth now: `off` by a setting or without a key, `failed` when the gateway gave none. */
export const catalogueStates = ['live', 'off', 'failed'] as const

/** Whether the agent can ask a model, and what to set where it cannot. Names of variables, never their values. */
export const ConfigCheck = z.object({
  /** Whether questions can be answered at all. */
  active: z.boolean(),
  defaultModel: ModelId.nullable(),
  providers: z.array(
    z.object({
      id: ModelProvider,
      name: z.string(),
      configured: z.boolean(),
      /** The variable that its key comes from. */
      keyFrom: z.string().nullable(),
      /** Whether it is asked at an address that the operator chose. */
      ownAddress: z.boolean(),
      catalogue: z.enum(catalogueStates),
      /** Variables that would give it a key. */
      missing: z.array(z.string()),
    }),
  ),
  /** What the operator may want to mend, in sentences. */
  notes: z.array(z.string()),
})
export type ConfigCheck = z.infer<typeof ConfigCheck>

/** Whether somebody may ask gateway C on their own account. */
export const ModelSignIn = z.object({
  provider: ModelProvider,
  /** Whether this caller can sign in here at all; `reason` says why not. */
  possible: z.boolean(),
  reason: z.string().nullable(),
  signedIn: z.boolean(),
  /** Epoch milliseconds; null while nobody is signed in. */
  expiresAtMs: z.int().nullable(),
})
export type ModelSignIn = z.infer<typeof ModelSignIn>

/** One use of a sign-in that has begun. */
export const SignInState = z.string().regex(/^[\w-]{43}$/, 'must be the state that the sign-in began with')

const common = { callers: ['gateway'], feature: 'AGENT' } as const

/** Methods of `agent` about language models. */
export const modelMethods = {
  models: rpc({
    doc: 'Models that the caller may ask for, the default first.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ModelsOffered,
  }),
  modelCheck: rpc({
    doc: 'Which gateways have keys, and what to set where one is missing.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ConfigCheck,
  }),
  modelSignIn: rpc({
    doc: 'Whether the caller is signed in with gateway C, or may sign in.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ModelSignIn,
  }),
  beginModelSignIn: rpc({
    doc: 'Begins to sign the caller in with gateway C, so that questions are billed to their own account there. `not-implemented` where nothing secret may be kept, `forbidden` for callers who are nobody in particular.',
    ...common,
    input: z.object({
      redirectUri: z.url({ protocol: /^https?$/ }).max(2_048),
      /** Path of ours that the person is sent on to afterwards. */
      returnTo: z.string().max(2_048),
    }),
    /** Where the browser goes. */
    output: z.object({ url: z.url().max(8_192) }),
  }),
  endModelSignIn: rpc({
    doc: 'Ends a sign-in with what gateway C sent the browser back with. `conflict` when nobody began it, another did, or ten minutes have passed.',
    ...common,
    input: z.object({
      state: SignInState,
      /** The query that gateway C sent the browser back with. */
      query: z.string().max(8_192),
    }),
    /** False when the person, or gateway C, would rather not. */
    output: z.object({ returnTo: z.string(), signedIn: z.boolean() }),
  }),
  endModelSession: rpc({
    doc: 'Forgets the key that gateway C gave for the caller.',
    ...common,
    input: z.object({}),
    output: ModelSignIn,
  }),
}
