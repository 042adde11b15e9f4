import { z } from 'zod'
import type { ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { Net } from '#shared/net/net.ts'
import { below, type GatewayAccess } from './access.ts'
import { attributionOf } from './attribution.ts'
import { readCatalogue } from './catalogue-row.ts'
import { modelSettings } from './config.ts'
import type { KnownModel } from './gateways.ts'
import { isModelId } from './model-reference.ts'

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
