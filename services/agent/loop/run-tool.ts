import { type Call, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Evidence } from '#proto/evidence.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { recording } from '#shared/evidence/recording.ts'
import { hostAt, type ToolResult } from '#shared/tools/tool.ts'
import { evidenceOfCall } from '../evidence/of-call.ts'
import { AnswerFailure } from './failure.ts'
import type { ReadCall } from './read-call.ts'
import type { Talk } from './talk.ts'

/** What a tool told, and what stands behind it. */
export interface Ran {
  answer: ToolResult
  evidence: readonly Evidence[]
}

/** Longest sentence about a failure. */
const longestFailure = 2_000

/** Runs one tool for as long as a step may take. What goes wrong is told in the answer, so that the model can do better. */
export const runTool = async (talk: Talk, call: ReadCall): Promise<Ran> => {
  const { tool } = call
  const input = withoutUsualHost(talk, call.input)
  const { query, evidence } = recording(talk.context.query, talk.context.clock)
  const own = callOf(talk)
  try {
    requireFeature(own.identity, tool.feature ?? undefined, `the tool ${tool.name}`)
    const answer = await endingWith(tool.run(input, { ...talk.context, query, call: own }), own.signal)
    const told = [...evidence, ...(answer.evidence ?? [])]
    if (told.length > 0 || answer.evidence || answer.isError) return { answer, evidence: told }
    const hostKey = tool.source ?? (await hostAt(talk.context, hostIdIn(input))).key
    const called = { hostKey, tool: tool.name, input: call.input, atMs: talk.context.clock.now() }
    return { answer, evidence: [evidenceOfCall(called, answer)] }
  } catch (error) {
    talk.call.signal.throwIfAborted()
    if (error instanceof AnswerFailure) throw error
    return {
      answer: { isError: true, text: sentenceOf(talk, tool.name, error, own.signal), structured: null },
      evidence,
    }
  }
}

/** Naming the host of the conversation says nothing, and a connection of the caller's own has no position that tools know. */
const withoutUsualHost = ({ question }: Talk, { hostId, ...input }: ReadCall['input']): ReadCall['input'] =>
  hostId === undefined || hostId === question.hostId ? input : { hostId, ...input }

/** Tools of external servers may mean anything by this name. */
const hostIdIn = ({ hostId }: ReadCall['input']): number | undefined =>
  typeof hostId === 'number' ? hostId : undefined

const callOf = ({ call, settings, context }: Talk): Call => {
  const stepMs = settings.SVC_AGENT_STEP_SECONDS * 1_000
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(stepMs)])
  return { ...call, signal, deadline: context.clock.elapsedMs() + stepMs }
}

/** Waits no longer than the signal, whatever the tool does with it. */
const endingWith = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

const sentenceOf = ({ log }: Talk, tool: string, error: unknown, signal: AbortSignal): string => {
  if (signal.aborted) return 'the tool took too long; ask for less'
  if (error instanceof ServiceError && error.code !== 'internal') {
    return beginningOf(`${error.code}: ${error.message}`, longestFailure)
  }
  log.error({ tool, err: error }, 'tool failed')
  return 'something failed on our side; the log of the service tells more'
}
