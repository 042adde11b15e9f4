import type { UsagePart } from '#proto/agent-parts.ts'
import { AnswerFailure } from './failure.ts'
import type { Usage } from './heard.ts'
import type { ChosenModel } from '../models/choose.ts'

/** What one turn of a model has cost; estimated where its gateway does not tell. */
export interface Turned {
  usage: Usage | undefined
  /** The model as its gateway names it. */
  resolvedModel: string | undefined
  /** Characters that were read and written. */
  read: number
  written: number
}

/** Adds up what an answer costs, and ends it at its caps. */
export interface Meter {
  /** Notes that the model said something. */
  spoke(): void
  add(turned: Turned): void
  /** Throws `AnswerFailure` when no further step may be paid for. */
  requireLeft(caps: { tokens: number; cents: number }): void
  sum(): UsagePart
}

/** About as many characters make one token of SQL, JSON and English. */
export const charactersOfToken = 3.5

export const openMeter = ({ provider, id, model, price }: ChosenModel): Meter => {
  const begunMs = performance.now()
  let firstTokenMs: number | null = null
  let resolvedModel = model
  let steps = 0
  const sum = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 }

  const costUsd = (): number | null =>
    price && (sum.inputTokens * price.inputPerMillion + sum.outputTokens * price.outputPerMillion) / 1_000_000

  return {
    spoke: () => {
      firstTokenMs ??= Math.round(performance.now() - begunMs)
    },
    add({ usage, read, written, ...turned }) {
      steps += 1
      resolvedModel = turned.resolvedModel ?? resolvedModel
      sum.inputTokens += tokens(usage?.prompt_tokens ?? read / charactersOfToken)
      sum.outputTokens += tokens(usage?.completion_tokens ?? written / charactersOfToken)
      sum.cachedTokens += tokens(usage?.prompt_tokens_details?.cached_tokens)
      sum.reasoningTokens += tokens(usage?.completion_tokens_details?.reasoning_tokens)
    },
    requireLeft(caps) {
      if (sum.inputTokens + sum.outputTokens >= caps.tokens) throw new AnswerFailure('token-limit')
      if (caps.cents > 0 && (costUsd() ?? 0) * 100 >= caps.cents) throw new AnswerFailure('cost-limit')
    },
    sum: () => ({
      ...sum,
      estimatedCostUsd: costUsd(),
      provider,
      model: id,
      resolvedModel,
      steps,
      durationMs: Math.round(performance.now() - begunMs),
      firstTokenMs,
    }),
  }
}

/** What a gateway counts, if it is a number that can be one. */
const tokens = (count: number | null | undefined): number =>
  typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.ceil(count) : 0
