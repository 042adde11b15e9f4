import { z } from 'zod'
import type { ModelProvider, ModelPrice } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { beginningOf, cut } from '#shared/text/cut.ts'
import { below, type GatewayAccess } from './access.ts'
import { attributionOf } from './attribution.ts'
import { modelSettings } from './config.ts'
import { type KnownModel, isModelId } from './gateways.ts'

/** What a gateway tells of what it has. */
export interface LiveList {
  /** In the gateway's own order, or the order of its list. */
  models: readonly KnownModel[]
  /** Ids of the models that are asked most, the most asked first; empty where the gateway does not tell. */
  mostUsed: readonly string[]
  /** Settled ways of asking that belong to the workspace of the key; null where it may not be told. */
  presets: readonly KnownModel[] | null
}

/** A gateway that answered with something else than a list; its sentence has nothing of the answer. */
export class UnreadableList extends Error {
  override readonly name = 'UnreadableList'
}

interface Parts {
  env: Environment
  net: Pick<Net, 'trusted'>
}

interface Wanted {
  provider: ModelProvider
  access: GatewayAccess
  signal: AbortSignal
}

/** Asks a gateway what it has. Throws `NetFailure` or `UnreadableList`. */
export const readLiveList = async (parts: Parts, wanted: Wanted): Promise<LiveList> => {
  const { provider, access } = wanted
  const models = readCatalogueOr(await ask(parts, wanted, listAddress(parts.env, provider, access)))
  if (provider !== 'gateway_c') return { models, mostUsed: [], presets: [] }
  // What these two cannot tell takes nothing from the list itself.
  const [mostUsed, presets] = await Promise.all([
    ask(parts, wanted, below(access.base, 'analytics/network')).then(readMostUsed, () => []),
    ask(parts, wanted, below(access.base, 'presets')).then(readPresets, () => null),
  ])
  return { models, mostUsed, presets }
}

const listAddress = (env: Environment, provider: ModelProvider, { base, ownAddress }: GatewayAccess): URL => {
  const chosen = provider === 'gateway_a' ? read(modelSettings, env).GATEWAY_A_MODELS_API : undefined
  if (chosen) return chosen
  const address = below(base, 'models')
  // OpenRouter sorts and filters; whoever stands at an address of the operator's need not know these parameters.
  if (provider === 'gateway_a' && !ownAddress) address.search = 'supported_parameters=tools&sort=top-weekly'
  return address
}

const timeoutMs = 5_000
const maxBytes = 16 * 1024 * 1024

/** The key goes along only to where questions go. */
const ask = async ({ env, net }: Parts, { provider, access, signal }: Wanted, address: URL): Promise<unknown> => {
  const headers: Record<string, string> = { accept: 'application/json', ...attributionOf(env, provider) }
  if (address.origin === access.base.origin) headers.authorization = `Bearer ${access.key}`
  const answer = await net.trusted(address, { headers, signal, timeoutMs, maxBytes })
  if (answer.status !== 200) {
    await answer.body?.cancel()
    throw new UnreadableList(`the gateway answered ${answer.status}`)
  }
  const text = await answer.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableList('the gateway answered no JSON')
  }
}

const readCatalogueOr = (body: unknown): KnownModel[] => {
  try {
    return readCatalogue(body)
  } catch {
    throw new UnreadableList('the gateway answered no list of models')
  }
}

const Used = z.object({ top_models: z.array(z.object({ model_id: z.string(), rank: z.number().default(Infinity) })) })

const readMostUsed = (body: unknown): string[] =>
  Used.parse(body)
    .top_models.toSorted((a, b) => a.rank - b.rank)
    .map(({ model_id: id }) => id)

const Preset = z.object({
  slug: z.string().regex(/^[\w-]{1,100}$/),
  name: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
})
const Presets = z.object({ data: z.array(z.unknown()) })
const mostPresets = 256

const readPresets = (body: unknown): KnownModel[] =>
  Presets.parse(body)
    .data.slice(0, mostPresets)
    .flatMap((each) => {
      const { data } = Preset.safeParse(each)
      const modelId = `@preset/${data?.slug}`
      if (!data || !isModelId(modelId)) return []
      const [name, description] = [beginningOf(data.name ?? data.slug, 80), beginningOf(data.description ?? '', 200)]
      const untold = { contextTokens: null, price: null, supportsTools: null, supportsVision: null }
      return [{ modelId, name, description, source: 'preset' as const, ...untold }]
    })

/** US dollars for one token; gateways write numbers as text too. */
const PerToken = z.coerce.number().min(0).max(1)

const list = z.array(z.string())
/** What gateways tell of a model. Each tells its own part of it, and what cannot be read counts as untold. */
const Row = z.object({
  id: z.string().refine(isModelId),
  name: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
  context_length: z.int().min(1).nullish().catch(null),
  /** The other unit that AnyRouter documents, `input_per_1k`, contradicts its own numbers by a factor of thousand, and is not read. */
  pricing: z.object({ prompt: PerToken, completion: PerToken }).nullish().catch(null),
  supported_parameters: list.nullish().catch(null),
  capabilities: list.nullish().catch(null),
  architecture: z.object({ input_modalities: list }).nullish().catch(null),
  category: z.string().nullish().catch(null),
})
type Row = z.infer<typeof Row>

const Rows = z.object({ data: z.array(z.unknown()) })
/** More than any gateway has; the rest is not looked at. */
const mostRows = 5_000

/** Models that answer in words, in the order of the list; rows that are none are left out. Throws when it is no list. */
export const readCatalogue = (body: unknown): KnownModel[] =>
  Rows.parse(body)
    .data.slice(0, mostRows)
    .flatMap((row) => {
      const { data } = Row.safeParse(row)
      return data && isForWords(data) ? [known(data)] : []
    })

/** Names that say that a model measures, ranks or filters texts, or makes something else of them. */
const otherKinds =
  /embed|rerank|guard|safety|reward|retriev|moderation|whisper|transcri|speech|tts\b|asr\b|ocr\b|clip\b|image|video/i

const isForWords = ({ id, category }: Row): boolean =>
  category == null || category === '' ? !otherKinds.test(id) : category === 'text'

const known = (row: Row): KnownModel => ({
  modelId: row.id,
  name: oneLine(row.name ?? '', longestName) || row.id,
  description: oneLine(row.description ?? '', longestDescription),
  source: 'live',
  contextTokens: row.context_length ?? null,
  price: row.pricing ? priceOf(row.pricing) : null,
  supportsTools: told(
    row.supported_parameters && row.supported_parameters.includes('tools'),
    row.capabilities && row.capabilities.some((each) => toolWords.has(each)),
  ),
  supportsVision: told(
    row.architecture && row.architecture.input_modalities.includes('image'),
    row.capabilities && row.capabilities.includes('vision'),
  ),
})

const toolWords: ReadonlySet<string> = new Set(['tool_use', 'tools', 'tool_calling', 'function_calling'])
const longestName = 80
const longestDescription = 200
const million = 1_000_000

const priceOf = ({ prompt, completion }: { prompt: number; completion: number }): ModelPrice => ({
  inputPerMillion: rounded(prompt * million),
  outputPerMillion: rounded(completion * million),
})

/** Without the tail that multiplying leaves. */
const rounded = (dollars: number): number => Number(dollars.toFixed(6))

/** True when any of those who tell says so; null when nobody tells. */
const told = (...claims: (boolean | null | undefined)[]): boolean | null => {
  const made = claims.filter((claim) => claim != null)
  return made.length === 0 ? null : made.includes(true)
}

const oneLine = (text: string, longest: number): string => cut(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), longest)
