import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { z } from 'zod'
import type { ClaimsPart, CorrectionPart } from '#proto/agent-parts.ts'
import { shortenWithEllipsis } from '#shared/text/strings.ts'
import type { AnswerContext, ChunkEmitter } from './answer-context.ts'
import { extractClaims } from './evidence.ts'
import { joinQuestionText } from './history.ts'
import type { ModelStepRunner } from './model-steps.ts'
import { reminderPrefix } from './prompt.ts'

type Claims = z.output<typeof ClaimsPart>

/** Extracts the claims from the texts of an answer, emits them, and returns them. */
export const emitClaims = ({ emit, ledger, question }: AnswerContext, texts: readonly string[]): Claims => {
  const data = extractClaims(texts.join('\n'), { ...ledger, question: joinQuestionText(question.messages) })
  emit({ type: 'data-claims', id: 'claims', data })
  return data
}

/** A complete answer, and the parameters to request one more step. */
interface CompleteAnswer {
  speak: ModelStepRunner
  messages: readonly ChatCompletionMessageParam[]
  /** The texts of the steps; the last one is the answer. */
  texts: readonly string[]
  /** The number of the next step. */
  number: number
}

/**
 * Requests the answer once more if it has figures that do not follow from the cited results, and returns the texts of
 * the steps. A correction replaces the last text. If there is none, because a limit is reached or the model fails, the
 * answer remains with its marked claims. Throws if the run was stopped.
 */
export const correctAnswer = async (
  talk: AnswerContext,
  { speak, messages, texts, number }: CompleteAnswer,
): Promise<readonly string[]> => {
  const claims = findUnprovenClaims(talk, texts.at(-1) ?? '')
  if (claims.length === 0) return texts
  // Readers see the marked claims of the first answer while the model writes the second one.
  emitClaims(talk, texts)
  const chunks: Parameters<ChunkEmitter>[0][] = []
  const emit: ChunkEmitter = (chunk) => void chunks.push(chunk)
  try {
    const request = [...messages, createCorrectionRequest(claims)]
    const { text, calls, cut } = await speak(request, { number, mayCallTools: false, emit })
    if (text.trim() === '' || calls.length > 0 || cut) return texts
    const untraced = [...new Set(claims.flatMap((claim) => claim.untraced ?? []))].slice(0, maxListedFigures)
    const part: z.input<typeof CorrectionPart> = { untraced }
    talk.emit({ type: 'start-step' })
    talk.emit({ type: 'data-correction', id: `correction-${talk.run.id}`, data: part })
    for (const chunk of chunks) talk.emit(chunk)
    talk.emit({ type: 'finish-step' })
    return [...texts.slice(0, -1), text]
  } catch (error) {
    if (talk.run.signal.aborted) throw error
    talk.log.info({ runId: talk.run.id, err: error }, 'answer not corrected')
    return texts
  }
}

const maxListedFigures = 100
const maxListedClaims = 20
const maxListedLength = 300

const findUnprovenClaims = ({ ledger, question }: AnswerContext, text: string): Claims['claims'] =>
  extractClaims(text, { ...ledger, question: joinQuestionText(question.messages) }).claims.filter(
    ({ untraced = [] }) => untraced.length > 0,
  )

/** Returns the request as a user message, since many models accept system messages only at the beginning. */
const createCorrectionRequest = (claims: Claims['claims']): ChatCompletionMessageParam => {
  const lines = claims
    .slice(0, maxListedClaims)
    .map(
      ({ text, evidence, untraced = [] }) =>
        `- ${untraced.join(', ')} does not follow from ${evidence.join(', ')}: ${JSON.stringify(shortenWithEllipsis(text, maxListedLength))}`,
    )
  const content = [
    `${reminderPrefix} Your answer has figures that do not follow from the results that it cites:`,
    ...lines,
    'Write the complete answer again, without a word about this reminder. Correct each of these figures, cite the result that contains it, state its computation (120 / 480 = 25 %), or leave it out.',
  ]
  return { role: 'user', content: content.join('\n') }
}
