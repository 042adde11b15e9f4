import type { UsagePart } from '#proto/agent-parts.ts'
import { hashOf } from '#shared/evidence/recording.ts'
import type { ChosenModel } from '../models/choose.ts'
import { AnswerFailure } from './failure.ts'
import type { Usage } from './heard.ts'

/** What one turn of a model has cost; estimated where its gateway does not tell. */
interface Turned {
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

/** The time that an answer may still take. It stands still while somebody is waited for. */
export interface TimeLeft extends Disposable {
  /** Aborts when none is left. */
  readonly signal: AbortSignal
  /** Does not count the time that this takes. */
  pausedFor<T>(waiting: Promise<T>): Promise<T>
}

export const openTimeLeft = (totalMs: number): TimeLeft => {
  const over = new AbortController()
  let leftMs = totalMs
  let runningSince = performance.now()
  let timer: NodeJS.Timeout
  const run = () => {
    runningSince = performance.now()
    timer = setTimeout(() => over.abort(), Math.max(0, leftMs))
  }
  const pause = () => {
    clearTimeout(timer)
    leftMs -= performance.now() - runningSince
  }
  run()
  return {
    signal: over.signal,
    async pausedFor(waiting) {
      pause()
      try {
        return await waiting
      } finally {
        run()
      }
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** What a tool may be asked again, so that a model does not go in circles. */
export interface Tries {
  /** Why a call is not carried out; undefined when it is. */
  refusal(name: string, input: Readonly<Record<string, unknown>>): string | undefined
  /** Notes what came of one; gives what the model is told besides. */
  note(input: Readonly<Record<string, unknown>>, isError: boolean): string | undefined
  /** Calls that told something. */
  readonly told: number
}

/** Times that the very same thing may be asked. */
const sameAtMost = 3
/** Statements that may fail one after the other: the first, and one that mends it. */
const failuresAtMost = 2

export const openTries = (): Tries => {
  const asked = new Map<string, number>()
  let failures = 0
  let told = 0
  return {
    get told() {
      return told
    },
    refusal(name, input) {
      if (isStatement(input) && failures >= failuresAtMost) {
        return 'statements failed twice; look at the schema of the table first, or answer with what you have'
      }
      const key = hashOf([name, input])
      const times = (asked.get(key) ?? 0) + 1
      asked.set(key, times)
      return times > sameAtMost ? `this was asked ${sameAtMost} times already; use what it told` : undefined
    },
    note(input, isError) {
      if (!isError) {
        failures = 0
        told += 1
        return undefined
      }
      if (!isStatement(input)) return undefined
      failures += 1
      return failures < failuresAtMost ? 'Mend the statement and try once more.' : 'That was the one further try.'
    },
  }
}

const isStatement = (input: Readonly<Record<string, unknown>>): boolean => typeof input.sql === 'string'
