import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { type Call, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Evidence } from '#proto/evidence.ts'
import { recording } from '#shared/evidence/recording.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { type ToolResult, failure, hostAt } from '#shared/tools/tool.ts'
import { askApproval, approveEgress } from './approvals.ts'
import { evidenceOfCall } from './evidence.ts'
import { guardPart } from '../part-guard.ts'
import { logVerbosely, tookMs } from '../verbose.ts'
import { AnswerFailure } from './failure.ts'
import type { RawCall } from './heard.ts'
import { searchToolsName } from './own-tools.ts'
import { updatePlan } from './plan.ts'
import { asData, shrinkTo } from './shrink.ts'
import type { Talk } from './talk.ts'
import { type ReadCall, readCall } from './toolbox.ts'

/** What came of the calls of one step. */
interface CarriedOut {
  results: ChatCompletionMessageParam[]
  /** Whether the person is asked something, so that the answer ends here for now. */
  isAsking: boolean
  /** Whether not one call could be read. */
  noneUsable: boolean
}

/**
 * Carries out the calls of one step: the plan first, since it may only speak of what was seen before; then all that reads, at once; then what
 * a person may have to approve, one after the other.
 */
export const carryOut = async (talk: Talk, raw: readonly RawCall[]): Promise<CarriedOut> => {
  const read = raw.map((call) => readAndTell(talk, call))
  const usable = read.flatMap((each) => ('tool' in each ? [each] : []))
  const answers = new Map(read.flatMap((each) => ('tool' in each ? [] : [[each.id, each.content] as const])))
  const isPlan = ({ tool }: ReadCall) => tool.name === updatePlan
  const answer = async (call: ReadCall) => void answers.set(call.id, await answerOf(talk, call))

  for (const call of usable.filter(isPlan)) await answer(call)
  await Promise.all(usable.filter((call) => call.tool.kind === 'read' && !isPlan(call)).map(answer))
  for (const call of usable.filter(({ tool }) => tool.kind === 'egress' || tool.kind === 'control')) await answer(call)

  const results = raw.flatMap(({ id }): ChatCompletionMessageParam[] => {
    const content = answers.get(id)
    return content === undefined ? [] : [{ role: 'tool', tool_call_id: id, content }]
  })
  const isAsking = usable.some(({ tool }) => tool.kind === 'ask')
  return { results, isAsking, noneUsable: usable.length === 0 }
}

/** Reads a call and tells its input, or what is wrong with it. */
const readAndTell = ({ tell, toolbox }: Talk, raw: RawCall): ReadCall | { id: string; content: string } => {
  const { id: toolCallId, name: toolName } = raw
  try {
    const call = readCall(raw, toolbox)
    const { title } = call.tool
    tell({ type: 'tool-input-available', toolCallId, toolName, title, input: call.input })
    return call
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    tell({ type: 'tool-input-error', toolCallId, toolName, input: raw.argumentsText, errorText: error.message })
    return { id: toolCallId, content: asData({ value: { error: error.message }, cut: false }) }
  }
}

/** Carries out one call, tells what came of it, and gives what the model reads of it. */
const answerOf = async (talk: Talk, call: ReadCall): Promise<string> => {
  const { tell, ledger, settings, env, log } = talk
  const { id: toolCallId, tool } = call
  const { answer, evidence, advice } = await outcomeOf(talk, call)
  const { isError, text, structured, parts = [] } = answer
  const known = ledger.add(evidence, { toolCallId, tool: tool.name })
  const ids = known.map(({ id }) => id)
  const told = isError ? { error: text } : { text, ...(structured && { result: structured }) }
  const { value, cut } = shrinkTo(told, settings.SVC_AGENT_TOOL_RESULT_BYTES)
  if (isError) {
    tell({ type: 'tool-output-error', toolCallId, errorText: beginningOf(text, longestFailure) })
  } else {
    const output = { ...(typeof value === 'object' ? value : {}), ...(cut && { cut }), evidence: ids }
    tell({ type: 'tool-output-available', toolCallId, output })
  }
  for (const each of known) tell({ type: 'data-evidence', id: each.id, data: each })
  for (const part of parts) {
    const shown = guardPart({ env, log }, part)
    if (shown) tell(shown)
  }
  if (!ownTools.has(tool.name)) talk.hostText.add(value, tool.egress?.server.id)
  const content = asData({ value, cut }, tool.kind === 'egress' ? 'outside' : 'host')
  return [content, ids.length > 0 && `Evidence: ${ids.join(', ')}.`, advice].filter(Boolean).join('\n')
}

/** Tools that read nothing but what the product itself says. */
const ownTools: ReadonlySet<string> = new Set([updatePlan, searchToolsName])

interface CallOutcome extends Ran {
  /** What the model is told besides. */
  advice?: string | undefined
}

/** What came of one call, as far as it may be carried out. */
const outcomeOf = async (talk: Talk, call: ReadCall): Promise<CallOutcome> => {
  const { tool, input } = call
  const refusal = talk.tries.refusal(tool.name, input)
  if (refusal !== undefined) return { answer: failure(refusal), evidence: [] }
  const beganMs = performance.now()
  const ran = await (tool.kind === 'control' ? wishFor(talk, call) : send(talk, call))
  const { isError } = ran.answer
  const facts = { runId: talk.run.id, tool: tool.name, isError, tookMs: tookMs(beganMs) }
  logVerbosely({ env: talk.env, log: talk.log }, facts, 'a tool was called')
  // The plan says nothing of hosts, so it counts as no result.
  return { ...ran, advice: tool.name === updatePlan ? undefined : talk.tries.note(input, isError) }
}

/** Runs a tool, one of an external server only where its arguments may go there. */
const send = async (talk: Talk, call: ReadCall): Promise<Ran> => {
  const { egress } = call.tool
  if (egress === undefined) return runTool(talk, call)
  try {
    egress.requireCallable(call.input)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answer: failure(codeAndMessage(error)), evidence: [] }
  }
  const refusal = await approveEgress(talk, call, egress)
  return refusal === undefined ? runTool(talk, call) : { answer: failure(refusal), evidence: [] }
}

const wishFor = async (talk: Talk, { id: toolCallId, tool: { name }, input }: ReadCall): Promise<Ran> => {
  try {
    return { answer: await askApproval(talk, { name, toolCallId, input }), evidence: [] }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answer: failure(codeAndMessage(error)), evidence: [] }
  }
}

/** What a tool told, and what stands behind it. */
interface Ran {
  answer: ToolResult
  evidence: readonly Evidence[]
}

/** Longest sentence about a failure, in characters. */
const longestFailure = 2_000

/** Runs one tool for as long as a step may take. What goes wrong is told in the answer, so that the model can do better. */
const runTool = async (talk: Talk, call: ReadCall): Promise<Ran> => {
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
    return { answer: failure(sentenceOf(talk, tool.name, error, own.signal)), evidence }
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

const codeAndMessage = ({ code, message }: ServiceError): string => beginningOf(`${code}: ${message}`, longestFailure)

const sentenceOf = ({ log }: Talk, tool: string, error: unknown, signal: AbortSignal): string => {
  if (signal.aborted) return 'the tool took too long; ask for less'
  if (error instanceof ServiceError && error.code !== 'internal') return codeAndMessage(error)
  log.error({ tool, err: error }, 'tool failed')
  return 'something failed on our side; the log of the service tells more'
}
