import type { Setting } from '#shared/config/setting.ts'
import { type ModelReference, parseModelReference, wantedForm } from './model-reference.ts'

/** A model that the operator offers besides. */
export interface ExtraModel extends ModelReference {
  /** In tokens. */
  contextTokens: number | null
  description: string
}

const mostExtraModels = 64
const longestDescription = 300
const form = 'provider:model|context length|description'

/** Further models, comma-separated; no field may have a comma. */
export const extraModels = (doc: string): Setting<readonly ExtraModel[]> => ({
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
