import { flag, optional, secret, text, url, whole, type Setting } from '#shared/config/setting.ts'
import { attributionSettings } from './attribution.ts'
import { modelReference, type ModelReference, parseModelReference, wantedForm } from './gateways.ts'

/** A model that the operator offers besides. */
interface ExtraModel extends ModelReference {
  /** In tokens. */
  contextTokens: number | null
  description: string
}

const mostExtraModels = 64
const longestDescription = 300
const form = 'provider:model|context length|description'

/** Further models, comma-separated; no field may have a comma. */
const extraModels = (doc: string): Setting<readonly ExtraModel[]> => ({
  doc,
  audience: 'server',
  fallback: 'none',
  allowed: `comma-separated ${form}`,
  parse: (given) => {
    const entries = (given ?? '').split(',').filter((entry) => entry.trim() !== '')
    if (entries.length > mostExtraModels) throw new Error(`must have at most ${mostExtraModels} models`)
    return entries.map(parseEntry)
  },
})

const parseEntry = (entry: string, index: number): ExtraModel => {
  const [reference = '', context = '', description = '', ...rest] = entry.split('|').map((field) => field.trim())
  const refuse = (problem: string) => new Error(`entry ${index + 1} ${problem}`)
  if (rest.length > 0) throw refuse(`must have at most three fields: ${form}`)
  const parsed = parseModelReference(reference)
  if (parsed === undefined) throw refuse(`must begin with ${wantedForm}`)
  const contextTokens = context === '' ? null : tokensOf(context)
  if (contextTokens === undefined) throw refuse('must give the context length in tokens, such as 131072, 128K or 1M')
  if (description.length > longestDescription)
    throw refuse(`must have a description of at most ${longestDescription} characters`)
  return { ...parsed, contextTokens, description }
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 }
const mostTokens = 100_000_000

const tokensOf = (text: string): number | undefined => {
  const { digits = '', unit = '' } = /^(?<digits>\d{1,9})(?<unit>[km]?)$/i.exec(text)?.groups ?? {}
  const tokens = Number(digits) * (factors[unit.toLowerCase()] ?? Number.NaN)
  return tokens >= 1 && tokens <= mostTokens ? tokens : undefined
}

const base = (gateway: string) =>
  url(`Base address of ${gateway}, whose key is sent there and nowhere else. Its own address by default.`, {
    protocols: ['https', 'http'],
  })
const key = (gateway: string) => secret(`Key of ${gateway}; takes precedence over LLM_API_KEY.`)
const live = (gateway: string) =>
  flag(true, `Offer models from the live list of ${gateway} too; it is asked only with a key.`)
const top = (gateway: string, fallback: number, max: number) =>
  whole(fallback, `Most models from the live list of ${gateway} that are offered.`, { max })

/** Which language models are asked, with which keys, and which are offered. */
export const modelSettings = {
  LLM_API_KEY: secret('Key of every gateway without a key of its own. With any key the agent is on.'),
  LLM_API_BASE: url(
    'Base address, compatible with OpenAI, that LLM_API_KEY is sent to. By default the address of the gateway whose model is called.',
    { protocols: ['https', 'http'] },
  ),
  LLM_MODEL: modelReference(
    'gateway_a:gateway_a/free',
    'The model that answers when nobody asks for another, as provider:model with the provider gateway_a, gateway_b or gateway_c.',
  ),
  LLM_EXTRA_MODELS: extraModels(
    'Further models that are offered, comma-separated: provider:model|context length|description, the last two optional. The length may end in K or M.',
  ),
  GATEWAY_A_API_KEY: key('gateway A'),
  GATEWAY_A_API_BASE: base('gateway A'),
  GATEWAY_A_MODELS_API: url('Where the live list of gateway A is read. Below its base address by default.', {
    protocols: ['https', 'http'],
  }),
  GATEWAY_A_FREE_FALLBACK_MODEL: text(
    'nvidia/nemotron-3-super-120b-a12b:free',
    'Model of gateway A that gateway_a:gateway_a/free means.',
  ),
  GATEWAY_A_DYNAMIC_MODELS: live('gateway A'),
  GATEWAY_A_TOP_MODELS_N: top('gateway A', 12, 64),
  GATEWAY_B_API_KEY: key('gateway B'),
  GATEWAY_B_API_BASE: base('gateway B'),
  GATEWAY_B_DYNAMIC_MODELS: live('gateway B'),
  GATEWAY_B_TOP_MODELS_N: top('gateway B', 12, 64),
  GATEWAY_C_API_KEY: key('gateway C'),
  GATEWAY_C_API_BASE: base('gateway C'),
  GATEWAY_C_DYNAMIC_MODELS: live('gateway C'),
  GATEWAY_C_TOP_MODELS_N: top('gateway C', 8, 32),
  GATEWAY_C_METRICS_CANDIDATE_CAP: whole(
    24,
    'How many models of gateway C, the most used first, are looked at to choose those that are offered.',
    { max: 64 },
  ),
  GATEWAY_C_PRESETS: flag(true, 'Offer the presets of the workspace that the key of gateway C belongs to.'),
  GATEWAY_C_PRESETS_MAX: whole(8, 'Most presets of gateway C that are offered.', { max: 64 }),
  GATEWAY_C_OAUTH_CLIENT_ID: optional(
    'OAuth client for people who sign in with gateway C to ask on their own account; by default the product registers one.',
  ),
  ...attributionSettings,
} as const
