import { z } from 'zod'
import { rpc } from './contract.ts'
import { EncryptedSecrets, TransitPublicKey } from './encrypted-secrets.ts'

/** Gateways that provide language models. The ids are those of the specification; `gateway_c` is AnyRouter. */
export const modelProviders = ['gateway_a', 'gateway_b', 'gateway_c'] as const
/** The gateway that provides a model. */
export const ModelProvider = z.enum(modelProviders)
export type ModelProvider = z.infer<typeof ModelProvider>

/** Model id `provider:model`, with the name that the gateway uses for the model. */
export const ModelId = z.string().max(256)

/** Price of a model in US dollars per million tokens. */
export const ModelPrice = z.object({ inputPerMillion: z.number().min(0), outputPerMillion: z.number().min(0) })
export type ModelPrice = z.infer<typeof ModelPrice>

/**
 * Sources of models: built into the product, listed by the gateway, added by the operator, or presets of the operator's
 * workspace.
 */
export const modelSources = ['built-in', 'live', 'extra', 'preset'] as const

/** A model that can be requested. Unknown attributes are null. */
export const OfferedModel = z.object({
  id: ModelId,
  /** The part of `id` after the provider. */
  modelId: z.string(),
  provider: ModelProvider,
  name: z.string(),
  description: z.string(),
  source: z.enum(modelSources),
  /** Context length in tokens. */
  contextLength: z.int().min(1).nullable(),
  /** Context length as text, such as `128K` or `1M`. */
  formattedContextLength: z.string().nullable(),
  isFree: z.boolean(),
  /** Whether the caller can use a key for its gateway. */
  available: z.boolean(),
  pricing: ModelPrice.nullable(),
  supportsTools: z.boolean().nullable(),
  supportsStreaming: z.boolean(),
  supportsVision: z.boolean().nullable(),
})
export type OfferedModel = z.infer<typeof OfferedModel>

/** All models that the caller can request. */
export const ModelList = z.object({
  models: z.array(OfferedModel).max(512),
  /** Gateways with a key that the caller can use. */
  configuredProviders: z.array(ModelProvider),
  /** The default model; null if no gateway has a key. */
  defaultModel: ModelId.nullable(),
})
export type ModelList = z.infer<typeof ModelList>

/**
 * States of the live model list of a gateway: `off` by a setting or without a key, `failed` if the gateway did not
 * return it.
 */
export const modelListStates = ['live', 'off', 'failed'] as const

/** Whether the agent can use a model, and which variables to set if not. Contains no values of variables. */
export const ConfigCheck = z.object({
  /** Whether the agent can respond. */
  active: z.boolean(),
  defaultModel: ModelId.nullable(),
  providers: z.array(
    z.object({
      id: ModelProvider,
      name: z.string(),
      configured: z.boolean(),
      /** The variable that provides the API key; null if no key is set. */
      keyFrom: z.string().nullable(),
      /** Whether the operator configured the address of the gateway. */
      ownAddress: z.boolean(),
      catalogue: z.enum(modelListStates),
      /** Variables that can supply the missing key; empty if the gateway has a key. */
      missing: z.array(z.string()),
    }),
  ),
  /** Hints for the operator. */
  notes: z.array(z.string()),
})
export type ConfigCheck = z.infer<typeof ConfigCheck>

/** Settings of the model gateway that can be saved in the product. */
export const savedModelFields = ['apiKey', 'baseUrl', 'model'] as const

/** One setting of the model gateway. */
export const ModelSettingField = z.object({
  field: z.enum(savedModelFields),
  variable: z.string(),
  isSecret: z.boolean(),
  /** The effective value; for a secret, it only shows that one is set. Null without a value. */
  value: z.string().nullable(),
  /** `environment` if the variable is set, which cannot be overridden. A newer release may add values. */
  source: z.string().max(32),
})
export type ModelSettingField = z.infer<typeof ModelSettingField>

/** The settings of the model gateway, with their sources. */
export const ModelSettings = z.object({
  /** Why settings cannot be saved; null if they can. */
  problem: z.string().nullable(),
  fields: z.array(ModelSettingField),
})
export type ModelSettings = z.infer<typeof ModelSettings>

const savedText = z.string().trim().min(1).max(2_048).nullable().optional()

/** Changed settings of the model gateway. An absent field keeps its saved value; null deletes it. */
export const ModelSettingsUpdate = z.strictObject({
  /** `provider:model`. */
  model: savedText,
  baseUrl: savedText,
})
export type ModelSettingsUpdate = z.infer<typeof ModelSettingsUpdate>

/** The secret part of `ModelSettingsUpdate`. */
export const ModelSettingsSecrets = z.strictObject({ apiKey: savedText })
export type ModelSettingsSecrets = z.infer<typeof ModelSettingsSecrets>

/** The result of a request to the model gateway. */
export const ModelTestResult = z.object({
  isOk: z.boolean(),
  /** Why the request failed; null after a successful one. */
  reason: z.string().nullable(),
  model: ModelId,
  tookMs: z.int(),
})
export type ModelTestResult = z.infer<typeof ModelTestResult>

/** The sign-in of a user with their own AnyRouter account. */
export const ModelSignIn = z.object({
  provider: ModelProvider,
  /** Whether this caller can sign in; otherwise `reason` is set. */
  possible: z.boolean(),
  reason: z.string().nullable(),
  signedIn: z.boolean(),
  /** Epoch milliseconds; null while the user is not signed in. */
  expiresAtMs: z.int().nullable(),
})
export type ModelSignIn = z.infer<typeof ModelSignIn>

/** Id of a started sign-in attempt. */
export const SignInState = z.string().regex(/^[\w-]{43}$/, 'must be the state of a started sign-in')

const common = { callers: ['gateway'], feature: 'AGENT' } as const

const changedSettings = {
  settings: ModelSettingsUpdate,
  /** `ModelSettingsSecrets` as JSON, encrypted with `modelSecretsKey`. */
  encrypted: EncryptedSecrets.optional(),
  /** Whether the gateway received the request from a caller on its own machine. */
  isCallerLocal: z.boolean(),
}

/** Methods of `agent` for language models. */
export const modelMethods = {
  models: rpc({
    doc: 'Lists the models that the caller can request, default first.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ModelList,
  }),
  modelCheck: rpc({
    doc: 'Returns which gateways have keys, and the variables to set for missing ones.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ConfigCheck,
  }),
  modelSettings: rpc({
    doc: 'Returns the settings of the model gateway, with their sources.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ModelSettings,
  }),
  modelSecretsKey: rpc({
    doc: 'Returns the public key to encrypt the API key of a model gateway; only `agent` can decrypt it.',
    ...common,
    safe: true,
    input: z.object({}),
    output: TransitPublicKey,
  }),
  updateModelSettings: rpc({
    doc: 'Saves settings of the model gateway; `conflict` for a setting whose variable is set, `not-implemented` if they cannot be stored.',
    ...common,
    input: z.object(changedSettings),
    output: ModelSettings,
  }),
  deleteModelSettings: rpc({
    doc: 'Deletes the saved settings of the model gateway.',
    ...common,
    input: z.object({}),
    output: ModelSettings,
  }),
  testModelSettings: rpc({
    doc: 'Sends a short request to the default model, with changed settings instead of the saved ones; saves nothing.',
    ...common,
    input: z.object(changedSettings),
    output: ModelTestResult,
  }),
  modelSignIn: rpc({
    doc: 'Returns whether the caller is signed in to AnyRouter, or can sign in.',
    ...common,
    safe: true,
    input: z.object({}),
    output: ModelSignIn,
  }),
  beginModelSignIn: rpc({
    doc: 'Starts the sign-in of the caller to AnyRouter, so that requests are billed to their account. `not-implemented` if secrets cannot be stored, `forbidden` for anonymous callers.',
    ...common,
    input: z.object({
      redirectUri: z.url({ protocol: /^https?$/ }).max(2_048),
      /** Path on this site to return to after the sign-in. */
      returnTo: z.string().max(2_048),
    }),
    /** Redirect target of the browser. */
    output: z.object({ url: z.url().max(8_192) }),
  }),
  endModelSignIn: rpc({
    doc: 'Completes a sign-in with the redirect parameters of AnyRouter. `conflict` if it was not started, another user started it, or ten minutes have passed.',
    ...common,
    input: z.object({
      state: SignInState,
      /** The query string with which AnyRouter redirects the browser. */
      query: z.string().max(8_192),
    }),
    /** `signedIn` is false if the user or AnyRouter denied the sign-in. */
    output: z.object({ returnTo: z.string(), signedIn: z.boolean() }),
  }),
  endModelSession: rpc({
    doc: 'Deletes the AnyRouter key of the caller.',
    ...common,
    input: z.object({}),
    output: ModelSignIn,
  }),
}
