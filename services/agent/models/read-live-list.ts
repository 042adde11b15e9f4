import { z } from 'zod'
import type { ModelProvider, ModelPrice } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { shortenText, shortenWithEllipsis } from '#shared/text/strings.ts'
import { joinUrlPath, type GatewayAccess } from './access.ts'
import { createAttributionHeaders } from './attribution.ts'
import { modelSettings } from './config.ts'
import { type KnownModel, isModelId } from './gateways.ts'

/** The live model list of a gateway. */
export interface LiveList {
  /** In the order of the gateway's list. */
  models: readonly KnownModel[]
  /** Ids of the most used models, most used first; empty if the gateway does not report usage. */
  mostUsed: readonly string[]
  /** Presets of the workspace that owns the key; null if the key has no permission to read them. */
  presets: readonly KnownModel[] | null
}

/** Thrown if a response contains no valid model list. The message never quotes the response. */
export class InvalidLiveListError extends Error {
  override readonly name = 'InvalidLiveListError'
}

interface Parts {
  env: Environment
  net: Pick<Net, 'trusted'>
}

interface ListRequest {
  provider: ModelProvider
  access: GatewayAccess
  signal: AbortSignal
}

/** Fetches the live list of a gateway. Throws `NetFailure` or `InvalidLiveListError`. */
export const readLiveList = async (parts: Parts, request: ListRequest): Promise<LiveList> => {
  const { provider, access } = request
  const models = readCatalogueOr(await fetchJson(parts, request, listAddress(parts.env, provider, access)))
  if (provider !== 'gateway_c') return { models, mostUsed: [], presets: [] }
  // If one of these two requests fails, the list is still returned.
  const [mostUsed, presets] = await Promise.all([
    fetchJson(parts, request, joinUrlPath(access.base, 'analytics/network')).then(readMostUsed, () => []),
    fetchJson(parts, request, joinUrlPath(access.base, 'presets')).then(readPresets, () => null),
  ])
  return { models, mostUsed, presets }
}

const listAddress = (env: Environment, provider: ModelProvider, { base, ownAddress }: GatewayAccess): URL => {
  const chosen = provider === 'gateway_a' ? parseSettings(modelSettings, env).GATEWAY_A_MODELS_API : undefined
  if (chosen) return chosen
  const address = joinUrlPath(base, 'models')
  // OpenRouter can sort and filter. A server at another address may not support these parameters.
  if (provider === 'gateway_a' && !ownAddress) address.search = 'supported_parameters=tools&sort=top-weekly'
  return address
}

const timeoutMs = 5_000
const maxBytes = 16 * 1024 * 1024

/** Fetches JSON. The key is sent only to the origin of the gateway. */
const fetchJson = async (
  { env, net }: Parts,
  { provider, access, signal }: ListRequest,
  address: URL,
): Promise<unknown> => {
  const headers: Record<string, string> = { accept: 'application/json', ...createAttributionHeaders(env, provider) }
  if (address.origin === access.base.origin) headers.authorization = `Bearer ${access.key}`
  const response = await net.trusted(address, { headers, signal, timeoutMs, maxBytes })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new InvalidLiveListError(`the gateway responded with status ${response.status}`)
  }
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidLiveListError('the response of the gateway is not JSON')
  }
}

const readCatalogueOr = (body: unknown): KnownModel[] => {
  try {
    return parseLiveList(body)
  } catch {
    throw new InvalidLiveListError('the response of the gateway is not a model list')
  }
}

const UsageRanking = z.object({
  top_models: z.array(z.object({ model_id: z.string(), rank: z.number().default(Infinity) })),
})

const readMostUsed = (body: unknown): string[] =>
  UsageRanking.parse(body)
    .top_models.toSorted((a, b) => a.rank - b.rank)
    .map(({ model_id: id }) => id)

const Preset = z.object({
  slug: z.string().regex(/^[\w-]{1,100}$/),
  name: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
})
const Presets = z.object({ data: z.array(z.unknown()) })
const maxPresets = 256

const readPresets = (body: unknown): KnownModel[] =>
  Presets.parse(body)
    .data.slice(0, maxPresets)
    .flatMap((each) => {
      const { data } = Preset.safeParse(each)
      const modelId = `@preset/${data?.slug}`
      if (!data || !isModelId(modelId)) return []
      const [name, description] = [shortenText(data.name ?? data.slug, 80), shortenText(data.description ?? '', 200)]
      const unknownFacts = { contextTokens: null, price: null, supportsTools: null, supportsVision: null }
      return [{ modelId, name, description, source: 'preset' as const, ...unknownFacts }]
    })

/** A price in US dollars per token. Some gateways send it as a string. */
const PerToken = z.coerce.number().min(0).max(1)

const list = z.array(z.string())
/** A model in a live list. Each gateway sends a subset of these fields. Invalid fields count as missing. */
const Row = z.object({
  id: z.string().refine(isModelId),
  name: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
  context_length: z.int().min(1).nullish().catch(null),
  /**
   * The field `input_per_1k` of AnyRouter is ignored, because its values differ from the documented unit by a factor of
   * 1,000.
   */
  pricing: z.object({ prompt: PerToken, completion: PerToken }).nullish().catch(null),
  supported_parameters: list.nullish().catch(null),
  capabilities: list.nullish().catch(null),
  architecture: z.object({ input_modalities: list }).nullish().catch(null),
  category: z.string().nullish().catch(null),
})
type Row = z.infer<typeof Row>

const Rows = z.object({ data: z.array(z.unknown()) })
/** Maximum number of rows, more than any gateway has; further rows are ignored. */
const maxRows = 5_000

/** Returns the text models of a response in their order, without invalid rows. Throws if the response has no list. */
export const parseLiveList = (body: unknown): KnownModel[] =>
  Rows.parse(body)
    .data.slice(0, maxRows)
    .flatMap((row) => {
      const { data } = Row.safeParse(row)
      return data && isForWords(data) ? [factsOf(data)] : []
    })

/** Matches the ids of models for embedding, reranking or moderation, and of models for images, video or audio. */
const otherKinds =
  /embed|rerank|guard|safety|reward|retriev|moderation|whisper|transcri|speech|tts\b|asr\b|ocr\b|clip\b|image|video/i

const isForWords = ({ id, category }: Row): boolean =>
  category == null || category === '' ? !otherKinds.test(id) : category === 'text'

const factsOf = (row: Row): KnownModel => ({
  modelId: row.id,
  name: oneLine(row.name ?? '', maxNameLength) || row.id,
  description: oneLine(row.description ?? '', maxDescriptionLength),
  source: 'live',
  contextTokens: row.context_length ?? null,
  price: row.pricing ? priceOf(row.pricing) : null,
  supportsTools: anyTrue(
    row.supported_parameters && row.supported_parameters.includes('tools'),
    row.capabilities && row.capabilities.some((each) => toolWords.has(each)),
  ),
  supportsVision: anyTrue(
    row.architecture && row.architecture.input_modalities.includes('image'),
    row.capabilities && row.capabilities.includes('vision'),
  ),
})

const toolWords: ReadonlySet<string> = new Set(['tool_use', 'tools', 'tool_calling', 'function_calling'])
const maxNameLength = 80
const maxDescriptionLength = 200
const million = 1_000_000

const priceOf = ({ prompt, completion }: { prompt: number; completion: number }): ModelPrice => ({
  inputPerMillion: rounded(prompt * million),
  outputPerMillion: rounded(completion * million),
})

/** Rounds a price to six decimals, which removes floating-point errors of the multiplication. */
const rounded = (dollars: number): number => Number(dollars.toFixed(6))

/** Returns whether any known value is true; null if all values are unknown. */
const anyTrue = (...claims: (boolean | null | undefined)[]): boolean | null => {
  const present = claims.filter((claim) => claim != null)
  return present.length === 0 ? null : present.includes(true)
}

const oneLine = (text: string, maxLength: number): string =>
  shortenWithEllipsis(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), maxLength)
