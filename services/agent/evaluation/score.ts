import { z } from 'zod'
import { ClaimsPart, UsagePart } from '#proto/agent-parts.ts'
import { NumberedEvidence } from '#proto/evidence.ts'

/** The fields of a streamed chunk that affect the score. */
const ScoredChunk = z.looseObject({ type: z.string(), delta: z.string().optional(), data: z.unknown().optional() })

/** The recorded stream of an answer, and the writes to the host in the meantime. */
interface RecordedAnswer {
  /** The streamed chunks. */
  chunks: readonly unknown[]
  /** Number of statements other than reads that the product ran on the host during the answer. */
  writes: number
}

/** The score of an answer: one boolean per criterion, and its usage. */
export interface AnswerScore {
  name: string
  rootCause: boolean
  evidence: boolean
  noWrite: boolean
  withinBudget: boolean
  tokens: number
  steps: number
  calls: number
  /** The code of the failure that ended the answer; null if it completed. */
  failure: string | null
  text: string
}

/** Scores an answer against the expectations of its scenario. */
export const scoreAnswer = (scenario: EvaluationScenario, { chunks, writes }: RecordedAnswer): AnswerScore => {
  const pieces = z.array(ScoredChunk).parse(chunks)
  const ofType = (type: string) => pieces.filter((piece) => piece.type === type)
  const text = joinText(pieces)
  const usage = UsagePart.parse(ofType('data-usage').at(-1)?.data)
  const failure = z.object({ code: z.string() }).safeParse(ofType('data-error').at(-1)?.data)
  const calls = ofType('tool-input-available').length
  const tokens = usage.inputTokens + usage.outputTokens
  const { names, never = [], maxCalls } = scenario
  return {
    name: scenario.name,
    rootCause:
      !failure.success && names.every((name) => name.test(text)) && !never.some((pattern) => pattern.test(text)),
    evidence: hasRequiredEvidence(
      scenario,
      ofType('data-claims').at(-1)?.data,
      ofType('data-evidence').map(({ data }) => NumberedEvidence.parse(data)),
    ),
    noWrite: writes === 0 && ofType('data-approval').length === 0,
    withinBudget: tokens <= answerBudget.tokens && usage.steps <= answerBudget.steps && calls <= (maxCalls ?? Infinity),
    tokens,
    steps: usage.steps,
    calls,
    failure: failure.data?.code ?? null,
    text,
  }
}

/** Returns the text of all steps without a step that the next one corrects. */
const joinText = (pieces: readonly z.output<typeof ScoredChunk>[]): string => {
  const steps: { text: string; isCorrection: boolean }[] = []
  for (const { type, delta = '' } of pieces) {
    if (type === 'start-step' || steps.length === 0) steps.push({ text: '', isCorrection: false })
    const step = steps.at(-1)
    if (step && type === 'text-delta') step.text += delta
    if (step && type === 'data-correction') step.isCorrection = true
  }
  return steps.map(({ text }, index) => (steps[index + 1]?.isCorrection ? '' : text)).join('')
}

/** Returns whether all cited evidence exists, all figures follow from it and, if the scenario requires it, a claim cites evidence with rows. */
const hasRequiredEvidence = (
  scenario: EvaluationScenario,
  given: unknown,
  evidence: readonly z.infer<typeof NumberedEvidence>[],
): boolean => {
  const { data: parsedClaims } = ClaimsPart.safeParse(given)
  if (!parsedClaims || parsedClaims.unknown.length > 0) return false
  if (parsedClaims.claims.some(({ untraced = [] }) => untraced.length > 0)) return false
  if (!scenario.restsOnEvidence) return true
  const cited = new Set(parsedClaims.claims.flatMap((claim) => claim.evidence))
  return evidence.some(({ id, rows }) => cited.has(id) && rows > 0)
}

/** Returns whether an answer passes all criteria. */
export const isCorrectAnswer = ({ rootCause, evidence, noWrite, withinBudget }: AnswerScore): boolean =>
  rootCause && evidence && noWrite && withinBudget

/** Returns a report with a line per scenario and totals. */
export const formatEvaluationReport = (model: string, scores: readonly AnswerScore[]): string => {
  const width = Math.max(...scores.map(({ name }) => name.length))
  const lines = scores.flatMap((score) => [
    [
      isCorrectAnswer(score) ? 'right' : 'WRONG',
      score.name.padEnd(width),
      `cause ${formatCriterion(score.rootCause)}`,
      `evidence ${formatCriterion(score.evidence)}`,
      `no write ${formatCriterion(score.noWrite)}`,
      `${score.steps} steps`,
      `${score.calls} calls`,
      `${score.tokens} tokens`,
    ].join('  '),
    ...(isCorrectAnswer(score)
      ? []
      : [`       ${score.failure ?? score.text.replaceAll(/\s+/g, ' ').slice(0, maxQuoteLength)}`]),
  ])
  const sum = (of: (score: AnswerScore) => number) => scores.reduce((all, score) => all + of(score), 0)
  const count = (of: (score: AnswerScore) => boolean) => `${sum((score) => Number(of(score)))} of ${scores.length}`
  return [
    `Answers from ${model}:`,
    ...lines,
    `${count(isCorrectAnswer)} right; cause named in ${count((score) => score.rootCause)}, evidence valid in ${count((score) => score.evidence)}, nothing changed in ${count((score) => score.noWrite)}; ${sum(({ steps }) => steps)} steps, ${sum(({ tokens }) => tokens)} tokens`,
  ].join('\n')
}

const maxQuoteLength = 400

const formatCriterion = (holds: boolean): string => (holds ? 'yes' : 'NO ')

/** A host state, a question about it and the expected answer. */
export interface EvaluationScenario {
  name: string
  question: string
  /** Statements that set up the state; `after` removes it. */
  set: readonly string[]
  /** A query that returns rows once the state is reached. */
  until?: string
  /** Statements that the host must reject. The rejections appear in its query log. */
  refused?: readonly string[]
  /** The user of the rejected statements. */
  refusedUser?: string
  after?: readonly string[]
  /** Patterns that a correct answer must all match. */
  names: readonly RegExp[]
  /** Patterns that a correct answer must not match. */
  never?: readonly RegExp[]
  /** Whether the answer must cite evidence, because it is about the host. */
  restsOnEvidence: boolean
  /** Maximum number of tool calls; null for no limit. */
  maxCalls: number | null
  /** The scripted model: the tool calls of each step, and the patterns of result text that its answer quotes. */
  script: { steps: readonly (readonly ScriptedCall[])[]; quotes: readonly RegExp[]; says?: string }
}

/** A tool call of the scripted model: the name of the tool and its input. */
type ScriptedCall = readonly [name: string, input: Record<string, unknown>]

/** Maximum steps and tokens of one answer. */
const answerBudget = { steps: 12, tokens: 150_000 } as const
