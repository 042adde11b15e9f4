import { z } from 'zod'
import type { ModelPrice } from '#proto/models.ts'
import { cut } from '#shared/text/cut.ts'
import type { KnownModel } from './gateways.ts'
import { isModelId } from './model-reference.ts'

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
