import {
  flagSetting,
  optionalTextSetting,
  secretSetting,
  textSetting,
  urlSetting,
  wholeNumberSetting,
  type Setting,
} from '#shared/config/setting.ts'
import { attributionSettings } from './attribution.ts'
import {
  createModelReferenceSetting,
  type ModelReference,
  parseModelReference,
  modelReferenceFormat,
} from './gateways.ts'

/** An additional model that the operator configured. */
interface ExtraModel extends ModelReference {
  /** In tokens. */
  contextTokens: number | null
  description: string
}

const maxExtraModels = 64
const maxDescriptionLength = 300
const entryFormat = 'provider:model|context length|description'

/** Returns a setting of comma-separated additional models. Fields cannot contain commas. */
const extraModelsSetting = (doc: string): Setting<readonly ExtraModel[]> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: `comma-separated ${entryFormat}`,
  parse: (value) => {
    const entries = (value ?? '').split(',').filter((entry) => entry.trim() !== '')
    if (entries.length > maxExtraModels) throw new Error(`must have at most ${maxExtraModels} models`)
    return entries.map(parseEntry)
  },
})

const parseEntry = (entry: string, index: number): ExtraModel => {
  const [reference = '', context = '', description = '', ...rest] = entry.split('|').map((field) => field.trim())
  const refuse = (problem: string) => new Error(`entry ${index + 1} ${problem}`)
  if (rest.length > 0) throw refuse(`must have at most three fields: ${entryFormat}`)
  const parsed = parseModelReference(reference)
  if (parsed === undefined) throw refuse(`must begin with ${modelReferenceFormat}`)
  const contextTokens = context === '' ? null : parseTokens(context)
  if (contextTokens === undefined) throw refuse('must give the context length in tokens, such as 131072, 128K or 1M')
  if (description.length > maxDescriptionLength)
    throw refuse(`must have a description of at most ${maxDescriptionLength} characters`)
  return { ...parsed, contextTokens, description }
}

const tokenFactors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 }
const maxTokens = 100_000_000

const parseTokens = (text: string): number | undefined => {
  const { digits = '', unit = '' } = /^(?<digits>\d{1,9})(?<unit>[km]?)$/i.exec(text)?.groups ?? {}
  const tokens = Number(digits) * (tokenFactors[unit.toLowerCase()] ?? Number.NaN)
  return tokens >= 1 && tokens <= maxTokens ? tokens : undefined
}

const baseUrlSetting = (gateway: string) =>
  urlSetting(`Base URL of ${gateway}; its key is sent only there. By default the public API.`, {
    protocols: ['https', 'http'],
  })
const apiKeySetting = (gateway: string) => secretSetting(`API key of ${gateway}; takes precedence over LLM_API_KEY.`)
const liveListSetting = (gateway: string) =>
  flagSetting(
    true,
    `Whether to also offer models from the live model list of ${gateway}; fetched only when a key is set.`,
  )
const topModelsSetting = (gateway: string, fallback: number, max: number) =>
  wholeNumberSetting(fallback, `Maximum number of models to offer from the live model list of ${gateway}.`, { max })

/** Settings for language models: keys, addresses and offered models. */
export const modelSettings = {
  LLM_API_KEY: secretSetting(
    'API key for every model provider without its own key. The agent is enabled when any key is set.',
  ),
  LLM_API_BASE: urlSetting(
    'Base URL of an OpenAI-compatible API that LLM_API_KEY is sent to. By default the URL of the provider whose model is called.',
    { protocols: ['https', 'http'] },
  ),
  LLM_MODEL: createModelReferenceSetting(
    'gateway_a:gateway_a/free',
    'Default model, as provider:model; providers: gateway_a (OpenRouter), gateway_b (NVIDIA NIM), gateway_c (AnyRouter).',
  ),
  LLM_EXTRA_MODELS: extraModelsSetting(
    'Additional models to offer, comma-separated: provider:model|context length|description; the last two are optional. The length can end in K or M.',
  ),
  GATEWAY_A_API_KEY: apiKeySetting('OpenRouter'),
  GATEWAY_A_API_BASE: baseUrlSetting('OpenRouter'),
  GATEWAY_A_MODELS_API: urlSetting('URL of the live model list of OpenRouter; by default below its base URL.', {
    protocols: ['https', 'http'],
  }),
  GATEWAY_A_FREE_FALLBACK_MODEL: textSetting(
    'nvidia/nemotron-3-super-120b-a12b:free',
    'OpenRouter model that gateway_a:gateway_a/free refers to.',
  ),
  GATEWAY_A_DYNAMIC_MODELS: liveListSetting('OpenRouter'),
  GATEWAY_A_TOP_MODELS_N: topModelsSetting('OpenRouter', 12, 64),
  GATEWAY_B_API_KEY: apiKeySetting('NVIDIA NIM'),
  GATEWAY_B_API_BASE: baseUrlSetting('NVIDIA NIM'),
  GATEWAY_B_DYNAMIC_MODELS: liveListSetting('NVIDIA NIM'),
  GATEWAY_B_TOP_MODELS_N: topModelsSetting('NVIDIA NIM', 12, 64),
  GATEWAY_C_API_KEY: apiKeySetting('AnyRouter'),
  GATEWAY_C_API_BASE: baseUrlSetting('AnyRouter'),
  GATEWAY_C_DYNAMIC_MODELS: liveListSetting('AnyRouter'),
  GATEWAY_C_TOP_MODELS_N: topModelsSetting('AnyRouter', 8, 32),
  GATEWAY_C_METRICS_CANDIDATE_CAP: wholeNumberSetting(
    24,
    'Number of most used AnyRouter models from which the offered models are selected.',
    { max: 64 },
  ),
  GATEWAY_C_PRESETS: flagSetting(
    true,
    'Whether to offer the presets of the AnyRouter workspace that the key belongs to.',
  ),
  GATEWAY_C_PRESETS_MAX: wholeNumberSetting(8, 'Maximum number of AnyRouter presets to offer.', { max: 64 }),
  GATEWAY_C_OAUTH_CLIENT_ID: optionalTextSetting(
    'OAuth client ID for users who sign in with AnyRouter to use their own account; by default the service registers one.',
  ),
  ...attributionSettings,
} as const
