import { z } from 'zod'
import { ClaimsPart, UsagePart } from '#proto/agent-parts.ts'
import { NumberedEvidence } from '#proto/evidence.ts'
import { budget, type Scenario } from './scenario.ts'

/** Pieces of an answer, as they were streamed. */
const Piece = z.looseObject({ type: z.string(), delta: z.string().optional(), data: z.unknown().optional() })

/** What is known of one answer. */
export interface Answered {
  /** What was streamed. */
  chunks: readonly unknown[]
  /** Statements of the product on the host in the meantime that did not only read. */
  writes: number
}

/** How an answer did. */
export interface Score {
  name: string
  rootCause: boolean
  evidence: boolean
  noWrite: boolean
  withinBudget: boolean
  tokens: number
  steps: number
  calls: number
  /** Code of the failure that ended the answer; null when it came to its end. */
  failure: string | null
  text: string
}

/** Judges an answer by what its stream says and what the host saw. */
export const scoreOf = (scenario: Scenario, { chunks, writes }: Answered): Score => {
  const pieces = z.array(Piece).parse(chunks)
  const ofType = (type: string) => pieces.filter((piece) => piece.type === type)
  const text = ofType('text-delta')
    .map(({ delta }) => delta ?? '')
    .join('')
  const usage = UsagePart.parse(ofType('data-usage').at(-1)?.data)
  const failure = z.object({ code: z.string() }).safeParse(ofType('data-error').at(-1)?.data)
  const calls = ofType('tool-input-available').length
  const tokens = usage.inputTokens + usage.outputTokens
  const { names, never = [], mostCalls } = scenario
  return {
    name: scenario.name,
    rootCause:
      !failure.success && names.every((name) => name.test(text)) && !never.some((pattern) => pattern.test(text)),
    evidence: restsOnEvidence(
      scenario,
      ofType('data-claims').at(-1)?.data,
      ofType('data-evidence').map(({ data }) => NumberedEvidence.parse(data)),
    ),
    noWrite: writes === 0 && ofType('data-approval').length === 0,
    withinBudget: tokens <= budget.tokens && usage.steps <= budget.steps && calls <= (mostCalls ?? Infinity),
    tokens,
    steps: usage.steps,
    calls,
    failure: failure.data?.code ?? null,
    text,
  }
}

/** Every reference stands for something, and what is claimed of a host rests on rows that it gave. */
const restsOnEvidence = (
  scenario: Scenario,
  given: unknown,
  evidence: readonly z.infer<typeof NumberedEvidence>[],
): boolean => {
  const { data: told } = ClaimsPart.safeParse(given)
  if (!told || told.unknown.length > 0) return false
  if (!scenario.restsOnEvidence) return true
  const cited = new Set(told.claims.flatMap((claim) => claim.evidence))
  return evidence.some(({ id, rows }) => cited.has(id) && rows > 0)
}

/** Whether all that counts is as it should be. */
export const isRight = ({ rootCause, evidence, noWrite, withinBudget }: Score): boolean =>
  rootCause && evidence && noWrite && withinBudget
