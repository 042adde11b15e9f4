import { z } from 'zod'
import { ClaimsPart, UsagePart } from '#proto/agent-parts.ts'
import { NumberedEvidence } from '#proto/evidence.ts'

/** Pieces of an answer, as they were streamed. */
const Piece = z.looseObject({ type: z.string(), delta: z.string().optional(), data: z.unknown().optional() })

/** What is known of one answer. */
interface Answered {
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

/** What came of all scenarios, a line each, and their sums. */
export const reportOf = (model: string, scores: readonly Score[]): string => {
  const width = Math.max(...scores.map(({ name }) => name.length))
  const lines = scores.flatMap((score) => [
    [
      isRight(score) ? 'right' : 'WRONG',
      score.name.padEnd(width),
      `cause ${said(score.rootCause)}`,
      `evidence ${said(score.evidence)}`,
      `no write ${said(score.noWrite)}`,
      `${score.steps} steps`,
      `${score.calls} calls`,
      `${score.tokens} tokens`,
    ].join('  '),
    ...(isRight(score) ? [] : [`       ${score.failure ?? score.text.replaceAll(/\s+/g, ' ').slice(0, longestQuote)}`]),
  ])
  const sum = (of: (score: Score) => number) => scores.reduce((all, score) => all + of(score), 0)
  const count = (of: (score: Score) => boolean) => `${sum((score) => Number(of(score)))} of ${scores.length}`
  return [
    `Answers of ${model}:`,
    ...lines,
    `${count(isRight)} right; cause named in ${count((score) => score.rootCause)}, evidence valid in ${count((score) => score.evidence)}, nothing changed in ${count((score) => score.noWrite)}; ${sum(({ steps }) => steps)} steps, ${sum(({ tokens }) => tokens)} tokens`,
  ].join('\n')
}

/** Characters of a wrong answer that are told. */
const longestQuote = 400

const said = (holds: boolean): string => (holds ? 'yes' : 'NO ')

/** A state of a host, a question about it, and what a right answer says. */
export interface Scenario {
  name: string
  question: string
  /** What brings the host into the state, and takes it away again. */
  set: readonly string[]
  /** Has rows once the state is reached, where that takes a while. */
  until?: string
  /** Statements that the host has to refuse, which leaves a trace too. */
  refused?: readonly string[]
  /** The user of the statements that are refused. */
  refusedUser?: string
  after?: readonly string[]
  /** All of these stand in an answer that names the cause. */
  names: readonly RegExp[]
  /** None of these stands in an answer that is right. */
  never?: readonly RegExp[]
  /** Whether the answer is about the host, so that it has to rest on evidence. */
  restsOnEvidence: boolean
  /** Most calls of tools; null where any number will do. */
  mostCalls: number | null
  /** What the scripted model does: the calls of each step, and then what it quotes of their results. */
  script: { steps: readonly (readonly Called[])[]; quotes: readonly RegExp[]; says?: string }
}

/** A call of a tool. */
type Called = readonly [name: string, input: Record<string, unknown>]

/** Most steps and tokens of one answer that is not too dear. */
const budget = { steps: 12, tokens: 150_000 } as const
