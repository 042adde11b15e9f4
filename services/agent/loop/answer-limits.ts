import type { UsagePart } from '#proto/agent-parts.ts'
import { hashJson } from '#shared/evidence/recording.ts'
import type { ToolResult } from '#shared/tools/tool.ts'
import type { ChosenModel } from '../models/model-choice.ts'
import { AnswerFailure } from './answer-failure.ts'
import type { TokenUsage } from './chunks.ts'

/**
 * The usage of one model request, successful or failed. If the gateway reports no `usage`, tokens are estimated from
 * the characters.
 */
interface StepUsage {
  usage: TokenUsage | undefined
  /** The model name that the gateway reports. */
  resolvedModel: string | undefined
  /** Number of characters that the model received; `written` is the number that it generated. */
  read: number
  written: number
}

/** Sums the token usage of an answer and enforces its token and cost limits. */
export interface UsageMeter {
  /** Records the time of the first token. */
  spoke(): void
  add(step: StepUsage): void
  /** Throws `AnswerFailure` if the tokens or the cost of the answer have reached their limit. */
  requireLeft(caps: { tokens: number; cents: number }): void
  sum(): UsagePart
}

/** The approximate characters per token of SQL, JSON and English. */
export const charactersPerToken = 3.5

export const openUsageMeter = ({
  provider,
  id,
  model,
  price,
}: Pick<ChosenModel, 'provider' | 'id' | 'model' | 'price'>): UsageMeter => {
  const startedMs = performance.now()
  let firstTokenMs: number | null = null
  let resolvedModel = model
  let steps = 0
  const sum = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 }

  let costUsd = price && 0

  return {
    spoke: () => {
      firstTokenMs ??= Math.round(performance.now() - startedMs)
    },
    add({ usage, read, written, ...step }) {
      steps += 1
      resolvedModel = step.resolvedModel ?? resolvedModel
      const inputTokens = toTokenCount(usage?.prompt_tokens ?? read / charactersPerToken)
      const outputTokens = toTokenCount(usage?.completion_tokens ?? written / charactersPerToken)
      sum.inputTokens += inputTokens
      sum.outputTokens += outputTokens
      sum.cachedTokens += toTokenCount(usage?.prompt_tokens_details?.cached_tokens)
      sum.reasoningTokens += toTokenCount(usage?.completion_tokens_details?.reasoning_tokens)
      const estimatedUsd =
        price && (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000
      const stepUsd = readChargedUsd(usage) ?? estimatedUsd
      if (stepUsd !== null) costUsd = (costUsd ?? 0) + stepUsd
    },
    requireLeft(caps) {
      if (sum.inputTokens + sum.outputTokens >= caps.tokens) throw new AnswerFailure('token-limit')
      if (caps.cents > 0 && (costUsd ?? 0) * 100 >= caps.cents) throw new AnswerFailure('cost-limit')
    },
    sum: () => ({
      ...sum,
      estimatedCostUsd: costUsd,
      provider,
      model: id,
      resolvedModel,
      steps,
      durationMs: Math.round(performance.now() - startedMs),
      firstTokenMs,
    }),
  }
}

/** Returns a token count as a positive integer, or 0 if it is invalid. */
const toTokenCount = (count: number | null | undefined): number =>
  typeof count === 'number' && Number.isFinite(count) && count > 0 ? Math.ceil(count) : 0

/**
 * Returns the cost that the gateway charged for a request; undefined if it reports none. If users have their own key at
 * the upstream provider, OpenRouter charges only a fee, and the cost at the upstream provider is added.
 */
const readChargedUsd = (usage: TokenUsage | undefined): number | undefined => {
  if (!isAmount(usage?.cost)) return undefined
  const upstream = usage.is_byok ? usage.cost_details?.upstream_inference_cost : 0
  return usage.cost + (isAmount(upstream) ? upstream : 0)
}

const isAmount = (amount: number | null | undefined): amount is number =>
  typeof amount === 'number' && Number.isFinite(amount) && amount >= 0

/** The time limit of an answer. The time that a person takes to decide on an approval does not count. */
export interface AnswerTimeBudget extends Disposable {
  /** Aborts when no time is left. */
  readonly signal: AbortSignal
  /** Pauses the time limit until the promise resolves or rejects, and returns its result. */
  pausedFor<T>(waiting: Promise<T>): Promise<T>
}

export const openAnswerTimeBudget = (totalMs: number): AnswerTimeBudget => {
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

/** The time limit of one model request: the time since the last chunk of the gateway. */
export interface IdleTimeout extends Disposable {
  /** Aborts when no chunk has arrived in time. */
  readonly signal: AbortSignal
  /** Restarts the idle timeout. */
  restart(): void
}

export const openIdleTimeout = (maxIdleMs: number): IdleTimeout => {
  const idle = new AbortController()
  const timer = setTimeout(() => idle.abort(), maxIdleMs)
  return {
    signal: idle.signal,
    restart: () => void timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

type ToolInput = Readonly<Record<string, unknown>>

/** Limits identical calls and failed statements, so that the model does not repeat them endlessly. */
export interface ToolCallLimiter {
  /** Counts a call and returns the reason if it is rejected; undefined if it may run. */
  refusal(name: string, input: ToolInput): string | undefined
  /** Records the outcome of a call. Returns advice for the model if its statement failed. */
  note(name: string, input: ToolInput, outcome: Pick<ToolResult, 'isError' | 'code'>): string | undefined
  /** The number of successful calls. */
  readonly successes: number
}

const maxSameCalls = 3
const busyAdvice = 'The host was busy, so the tool did not run. Call it again, or continue with another host or tool.'
/** Maximum consecutive failed statements: the first one and one retry. */
const maxFailures = 2

export const openToolCallLimiter = (): ToolCallLimiter => {
  const callCounts = new Map<string, number>()
  const count = (name: string, input: ToolInput, change: 1 | -1): number => {
    const key = hashJson([name, input])
    const times = (callCounts.get(key) ?? 0) + change
    callCounts.set(key, times)
    return times
  }
  let failures = 0
  let successes = 0
  return {
    get successes() {
      return successes
    },
    refusal(name, input) {
      if (isStatement(input) && failures >= maxFailures) {
        return 'statements failed twice; read the schema of the table first, or answer from the results that you have'
      }
      return count(name, input, 1) > maxSameCalls
        ? `this call was repeated ${maxSameCalls} times already; use its result`
        : undefined
    },
    note(name, input, { isError, code }) {
      if (code === 'busy') {
        count(name, input, -1)
        return busyAdvice
      }
      if (!isError) {
        failures = 0
        successes += 1
        return undefined
      }
      if (!isStatement(input)) return undefined
      failures += 1
      return failures < maxFailures ? 'Fix the statement and try once more.' : 'No further retry is allowed.'
    },
  }
}

const isStatement = (input: ToolInput): boolean => typeof input.sql === 'string'
