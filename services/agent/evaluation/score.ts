import { z } from 'zod'
import { ClaimsPart, UsagePart } from '#proto/agent-parts.ts'
import { NumberedEvidence } from '#proto/evidence.ts'
import { extractFigures } from '../loop/figures.ts'
import type { EvaluationCase, Diagnosis } from './cases.ts'

/** The fields of a streamed chunk that affect the score. */
const ScoredChunk = z.looseObject({ type: z.string(), delta: z.string().optional(), data: z.unknown().optional() })

/** The recorded stream of an answer, and the writes to the hosts in the meantime. */
interface RecordedAnswer {
  /** The streamed chunks. */
  chunks: readonly unknown[]
  /** Number of statements other than reads that the product ran on the hosts during the answer. */
  writes: number
}

/** The score of an answer: one boolean per criterion, and its usage. */
export interface AnswerScore {
  name: string
  cause: boolean
  object: boolean
  host: boolean
  /** Whether the answer has a figure, and all its figures follow from results that it cites. */
  figures: boolean
  noWrite: boolean
  withinBudget: boolean
  tokens: number
  steps: number
  calls: number
  /** The code of the failure that ended the answer; null if it completed. */
  failure: string | null
  text: string
}

/** Scores an answer: compares each field of its diagnosis with the expected one, and checks its figures. */
export const scoreAnswer = (
  { name, expected }: Pick<EvaluationCase, 'name' | 'expected'>,
  { chunks, writes }: RecordedAnswer,
): AnswerScore => {
  const pieces = z.array(ScoredChunk).parse(chunks)
  const ofType = (type: string) => pieces.filter((piece) => piece.type === type)
  const text = joinText(pieces)
  const usage = UsagePart.parse(ofType('data-usage').at(-1)?.data)
  const failure = z.object({ code: z.string() }).safeParse(ofType('data-error').at(-1)?.data)
  const diagnosis = failure.success ? undefined : parseDiagnosis(text)
  const tokens = usage.inputTokens + usage.outputTokens
  return {
    name,
    cause: diagnosis?.cause === expected.cause,
    object: diagnosis?.object === expected.object,
    host: diagnosis?.host === expected.host,
    figures: hasProvenFigures(
      text,
      ofType('data-claims').at(-1)?.data,
      ofType('data-evidence').map(({ data }) => NumberedEvidence.parse(data)),
    ),
    noWrite: writes === 0 && ofType('data-approval').length === 0,
    withinBudget: tokens <= answerBudget.tokens && usage.steps <= answerBudget.steps,
    tokens,
    steps: usage.steps,
    calls: ofType('tool-input-available').length,
    failure: failure.data?.code ?? null,
    text,
  }
}

/** Returns the text of all steps, except a step that the next one corrects. */
const joinText = (pieces: readonly z.output<typeof ScoredChunk>[]): string => {
  const steps: { text: string; isCorrection: boolean }[] = []
  for (const { type, delta = '' } of pieces) {
    if (type === 'start-step' || steps.length === 0) steps.push({ text: '', isCorrection: false })
    const step = steps.at(-1)
    if (step && type === 'text-delta') step.text += delta
    if (step && type === 'data-correction') step.isCorrection = true
  }
  return steps.map(({ text }, index) => (steps[index + 1]?.isCorrection ? '' : text)).join('\n')
}

const diagnosisPattern = /\{[^{}]*"cause"[^{}]*\}/g
const Field = z.string().transform((text) => text.replaceAll('`', '').trim())
const GivenDiagnosis = z.object({ cause: Field, object: Field, host: Field })

/** Returns the last diagnosis of an answer, so that listing several diagnoses gains nothing; undefined if it has none. */
const parseDiagnosis = (text: string): Record<keyof Diagnosis, string> | undefined => {
  const last = text.match(diagnosisPattern)?.at(-1)
  try {
    return last === undefined ? undefined : GivenDiagnosis.safeParse(JSON.parse(last)).data
  } catch {
    return undefined
  }
}

/**
 * Returns whether the answer cites a figure from a result with rows, all cited evidence exists, all cited figures
 * follow from it, and no figure is uncited. The JSON of the diagnosis has no figures to check.
 */
const hasProvenFigures = (
  text: string,
  given: unknown,
  evidence: readonly z.infer<typeof NumberedEvidence>[],
): boolean => {
  const { data: parsedClaims } = ClaimsPart.safeParse(given)
  if (!parsedClaims || parsedClaims.unknown.length > 0) return false
  const { claims } = parsedClaims
  if (claims.some(({ untraced = [] }) => untraced.length > 0)) return false
  const cited = new Set(claims.flatMap((claim) => extractFigures(claim.text).map((figure) => figure.text)))
  const all = extractFigures(text.replaceAll(diagnosisPattern, ' '))
  if (cited.size === 0 || all.some((figure) => !cited.has(figure.text))) return false
  const ids = new Set(claims.flatMap((claim) => claim.evidence))
  return evidence.some(({ id, rows }) => ids.has(id) && rows > 0)
}

/** Returns whether all fields of a diagnosis are the expected ones, regardless of the figures of the answer. */
export const isCorrectDiagnosis = ({ cause, object, host }: AnswerScore): boolean => cause && object && host

/** Returns whether an answer passes all criteria. */
export const isCorrectAnswer = (score: AnswerScore): boolean =>
  isCorrectDiagnosis(score) && score.figures && score.noWrite && score.withinBudget

/** Returns a report with a line per case and totals. */
export const formatEvaluationReport = (model: string, scores: readonly AnswerScore[]): string => {
  const width = Math.max(...scores.map(({ name }) => name.length))
  const lines = scores.flatMap((score) => [
    [
      isCorrectAnswer(score) ? 'right' : 'WRONG',
      score.name.padEnd(width),
      ...criteria.map((criterion) => `${criterion} ${score[criterion] ? 'yes' : 'NO '}`),
      `no write ${score.noWrite ? 'yes' : 'NO '}`,
      `${score.steps} steps`,
      `${score.calls} calls`,
      `${score.tokens} tokens`,
    ].join('  '),
    ...(isCorrectAnswer(score)
      ? []
      : [`       ${score.failure ?? score.text.replaceAll(/\s+/g, ' ').slice(-maxQuoteLength)}`]),
  ])
  return [`Answers from ${model}:`, ...lines, formatEvaluationTotals(scores)].join('\n')
}

const criteria = ['cause', 'object', 'host', 'figures'] as const
const maxQuoteLength = 400

/** Returns the totals of an evaluation in one line. */
export const formatEvaluationTotals = (scores: readonly AnswerScore[]): string => {
  const sum = (of: (score: AnswerScore) => number) => scores.reduce((all, score) => all + of(score), 0)
  const count = (of: (score: AnswerScore) => boolean) => sum((score) => Number(of(score)))
  const fields = criteria.map((criterion) => `${criterion} ${count((score) => score[criterion])}`)
  const percent = Math.round((100 * count(isCorrectAnswer)) / scores.length)
  return `${count(isCorrectAnswer)} of ${scores.length} right (${percent} %); ${fields.join(', ')}; ${sum(({ steps }) => steps)} steps, ${sum(({ tokens }) => tokens)} tokens`
}

/** Maximum steps and tokens of one answer. */
const answerBudget = { steps: 12, tokens: 150_000 } as const
