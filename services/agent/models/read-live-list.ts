import { z } from 'zod'
import type { ModelProvider, ModelPrice } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import { shortenText, shortenWithEllipsis } from '#shared/text/strings.ts'
import { joinUrlPath, type GatewayAccess } from './gateway-access.ts'
import { createAttributionHeaders } from './attribution.ts'
import { modelSettings } from './config.ts'
import { type KnownModel, isModelId } from './gateways.ts'

/** The live model list of a gateway. */
export interface LiveList {
  /** The models in the order of the gateway's response. */
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

interface LiveListDeps {
  env: Environment
  net: Pick<Net, 'trusted'>
}

interface ListRequest {
  provider: ModelProvider
  access: GatewayAccess
  signal: AbortSignal
}

/** Fetches the live list of a gateway. Throws `NetFailure` or `InvalidLiveListError`. */
export const fetchLiveList = async (parts: LiveListDeps, request: ListRequest): Promise<LiveList> => {
  const { provider, access } = request
  const models = parseModelList(await fetchJson(parts, request, createListUrl(parts.env, provider, access)))
  if (provider !== 'gateway_c') return { models, mostUsed: [], presets: [] }
  // If one of these two requests fails, the list is still returned.
  const [mostUsed, presets] = await Promise.all([
    fetchJson(parts, request, joinUrlPath(access.base, 'analytics/network')).then(parseMostUsed, () => []),
    fetchJson(parts, request, joinUrlPath(access.base, 'presets')).then(parsePresets, () => null),
  ])
  return { models, mostUsed, presets }
}

const createListUrl = (env: Environment, provider: ModelProvider, { base, ownAddress }: GatewayAccess): URL => {
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
  { env, net }: LiveListDeps,
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

const parseModelList = (body: unknown): KnownModel[] => {
  try {
    return parseLiveList(body)
  } catch {
    throw new InvalidLiveListError('the response of the gateway is not a model list')
  }
}

const UsageRanking = z.object({
  top_models: z.array(z.object({ model_id: z.string(), rank: z.number().default(Infinity) })),
})

const parseMostUsed = (body: unknown): string[] =>
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

const parsePresets = (body: unknown): KnownModel[] =>
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
const PricePerToken = z.coerce.number().min(0).max(1)

const StringList = z.array(z.string())
/** A model in a live list. Each gateway sends a subset of these fields. Invalid fields count as missing. */
const LiveListRow = z.object({
  id: z.string().refine(isModelId),
  name: z.string().nullish().catch(null),
  description: z.string().nullish().catch(null),
  context_length: z.int().min(1).nullish().catch(null),
  /**
   * The field `input_per_1k` of AnyRouter is ignored, because its values differ from the documented unit by a factor of
   * 1,000.
   */
  pricing: z.object({ prompt: PricePerToken, completion: PricePerToken }).nullish().catch(null),
  supported_parameters: StringList.nullish().catch(null),
  capabilities: StringList.nullish().catch(null),
  architecture: z.object({ input_modalities: StringList }).nullish().catch(null),
  category: z.string().nullish().catch(null),
})
type LiveListRow = z.infer<typeof LiveListRow>

const LiveListRows = z.object({ data: z.array(z.unknown()) })
/** Maximum number of rows, more than any gateway has; further rows are ignored. */
const maxRows = 5_000

/** Returns the text models of a response in their order, without invalid rows. Throws if the response has no list. */
export const parseLiveList = (body: unknown): KnownModel[] =>
  LiveListRows.parse(body)
    .data.slice(0, maxRows)
    .flatMap((row) => {
      const { data } = LiveListRow.safeParse(row)
      return data && isTextModel(data) ? [toKnownModel(data)] : []
    })

/** Matches the ids of models for embedding, reranking or moderation, and of models for images, video or audio. */
const nonTextModelId =
  /embed|rerank|guard|safety|reward|retriev|moderation|whisper|transcri|speech|tts\b|asr\b|ocr\b|clip\b|image|video/i

const isTextModel = ({ id, category }: LiveListRow): boolean =>
  category == null || category === '' ? !nonTextModelId.test(id) : category === 'text'

const toKnownModel = (row: LiveListRow): KnownModel => ({
  modelId: row.id,
  name: formatOnOneLine(row.name ?? '', maxNameLength) || row.id,
  description: formatOnOneLine(row.description ?? '', maxDescriptionLength),
  source: 'live',
  contextTokens: row.context_length ?? null,
  price: row.pricing ? toModelPrice(row.pricing) : null,
  supportsTools: isAnyTrue(
    row.supported_parameters && row.supported_parameters.includes('tools'),
    row.capabilities && row.capabilities.some((each) => toolCapabilityNames.has(each)),
  ),
  supportsVision: isAnyTrue(
    row.architecture && row.architecture.input_modalities.includes('image'),
    row.capabilities && row.capabilities.includes('vision'),
  ),
})

const toolCapabilityNames: ReadonlySet<string> = new Set(['tool_use', 'tools', 'tool_calling', 'function_calling'])
const maxNameLength = 80
const maxDescriptionLength = 200
const million = 1_000_000

const toModelPrice = ({ prompt, completion }: { prompt: number; completion: number }): ModelPrice => ({
  inputPerMillion: roundPrice(prompt * million),
  outputPerMillion: roundPrice(completion * million),
})

/** Rounds a price to six decimals, which removes floating-point errors of the multiplication. */
const roundPrice = (dollars: number): number => Number(dollars.toFixed(6))

/** Returns whether any known value is true; null if all values are unknown. */
const isAnyTrue = (...claims: (boolean | null | undefined)[]): boolean | null => {
  const present = claims.filter((claim) => claim != null)
  return present.length === 0 ? null : present.includes(true)
}

const formatOnOneLine = (text: string, maxLength: number): string =>
  shortenWithEllipsis(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), maxLength)
