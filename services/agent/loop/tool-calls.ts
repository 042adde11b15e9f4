import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { type CallContext, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Evidence } from '#proto/evidence.ts'
import { createRecordingClient } from '#shared/evidence/recording.ts'
import { shortenText } from '#shared/text/strings.ts'
import { startChildSpan } from '#shared/telemetry/tracing.ts'
import { runWithHistory } from '#shared/tools/recorded-hour.ts'
import { type ToolResult, createToolFailure, findHost } from '#shared/tools/tool.ts'
import { requestApproval, requestEgressApproval } from './request-approval.ts'
import { createCallEvidence } from './evidence.ts'
import { validateDataPart } from '../validate-data-part.ts'
import { logVerbosely, getElapsedMs } from '../verbose-log.ts'
import { AnswerFailure } from './answer-failure.ts'
import type { RawToolCall } from './chunks.ts'
import { searchToolsName } from './own-tools.ts'
import { planToolName } from './plan.ts'
import { truncateToSize } from '#shared/text/truncate-to-size.ts'
import { wrapInDataTags } from './data-tags.ts'
import type { AnswerContext } from './answer-context.ts'
import { type ParsedToolCall, parseToolCall } from './toolbox.ts'

/** The outcome of the tool calls of one step. */
interface ToolCallOutcomes {
  results: ChatCompletionMessageParam[]
  /** Whether a call is a question to the user, which ends the run. */
  isWaitingForPerson: boolean
  /** Whether no call was valid. */
  noneUsable: boolean
}

/**
 * Runs the tool calls of one step. Plan updates run first, so that they can refer only to results of earlier steps.
 * Reading tools then run concurrently. Calls that may need an approval run last, one after another.
 */
export const runToolCalls = async (talk: AnswerContext, raw: readonly RawToolCall[]): Promise<ToolCallOutcomes> => {
  const read = raw.map((call) => parseAndEmit(talk, call))
  const usable = read.flatMap((each) => ('tool' in each ? [each] : []))
  const answers = new Map(read.flatMap((each) => ('tool' in each ? [] : [[each.id, each.content] as const])))
  const isPlan = ({ tool }: ParsedToolCall) => tool.name === planToolName
  const answer = async (call: ParsedToolCall) => void answers.set(call.id, await runAndEmit(talk, call))

  for (const call of usable.filter(isPlan)) await answer(call)
  await Promise.all(usable.filter((call) => call.tool.kind === 'read' && !isPlan(call)).map(answer))
  for (const call of usable.filter(({ tool }) => tool.kind === 'egress' || tool.kind === 'control')) await answer(call)

  const results = raw.flatMap(({ id }): ChatCompletionMessageParam[] => {
    const content = answers.get(id)
    return content === undefined ? [] : [{ role: 'tool', tool_call_id: id, content }]
  })
  const isWaitingForPerson = usable.some(({ tool }) => tool.kind === 'ask')
  return { results, isWaitingForPerson, noneUsable: usable.length === 0 }
}

/** Parses a call and emits its input. If the call is invalid, emits the error and returns it for the model. */
const parseAndEmit = (
  { emit, toolbox }: AnswerContext,
  raw: RawToolCall,
): ParsedToolCall | { id: string; content: string } => {
  const { id: toolCallId, name: toolName } = raw
  try {
    const call = parseToolCall(raw, toolbox)
    const { title } = call.tool
    emit({ type: 'tool-input-available', toolCallId, toolName, title, input: call.input })
    return call
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    emit({ type: 'tool-input-error', toolCallId, toolName, input: raw.argumentsText, errorText: error.message })
    return { id: toolCallId, content: wrapInDataTags({ value: { error: error.message }, cut: false }) }
  }
}

/** Runs one call, emits its outcome and returns the content for the model. */
const runAndEmit = async (talk: AnswerContext, call: ParsedToolCall): Promise<string> => {
  const { emit, ledger, settings, env, log } = talk
  const { id: toolCallId, tool } = call
  const { answer, evidence, advice } = await runCall(talk, call)
  const { isError, text, structured, parts = [] } = answer
  const shown = isError ? { error: text } : { text, ...(structured && { result: structured }) }
  const { value, cut } = truncateToSize(shown, settings.SVC_AGENT_TOOL_RESULT_BYTES)
  const known = ledger.add(evidence, { toolCallId, tool: tool.name }, { value, cut })
  const ids = known.map(({ id }) => id)
  if (isError) {
    emit({ type: 'tool-output-error', toolCallId, errorText: shortenText(text, maxFailureLength) })
  } else {
    const output = { ...(typeof value === 'object' ? value : {}), ...(cut && { cut }), evidence: ids }
    emit({ type: 'tool-output-available', toolCallId, output })
  }
  for (const each of known) emit({ type: 'data-evidence', id: each.id, data: each })
  for (const part of parts) {
    const guarded = validateDataPart({ env, log }, part)
    if (guarded) emit(guarded)
  }
  if (!ownToolNames.has(tool.name)) talk.hostText.add(value, tool.egress?.server.id)
  const content = wrapInDataTags({ value, cut }, tool.kind === 'egress' ? 'outside' : 'host')
  return [content, ids.length > 0 && `Evidence: ${ids.join(', ')}.`, advice].filter(Boolean).join('\n')
}

/** Tools of the agent itself. Their results contain no text of a host. */
const ownToolNames: ReadonlySet<string> = new Set([planToolName, searchToolsName])

interface CallOutcome extends ToolRun {
  /** Additional advice for the model. */
  advice?: string | undefined
}

/** Runs one call, or rejects it if it was repeated too often. */
const runCall = async (talk: AnswerContext, call: ParsedToolCall): Promise<CallOutcome> => {
  const { tool, input } = call
  const refusal = talk.tries.refusal(tool.name, input)
  if (refusal !== undefined) return { answer: createToolFailure(refusal), evidence: [] }
  const beganMs = performance.now()
  const toolRun = await (tool.kind === 'control' ? runControlTool(talk, call) : runWithEgressApproval(talk, call))
  const { isError } = toolRun.answer
  const facts = { runId: talk.run.id, tool: tool.name, isError, tookMs: getElapsedMs(beganMs) }
  logVerbosely({ env: talk.env, log: talk.log }, facts, 'tool called')
  // A plan update reads no host, so it does not count as a tool result.
  return {
    ...toolRun,
    advice: tool.name === planToolName ? undefined : talk.tries.note(tool.name, input, toolRun.answer),
  }
}

/** Runs a tool. An external tool runs only if its arguments may be sent to its server. */
const runWithEgressApproval = async (talk: AnswerContext, call: ParsedToolCall): Promise<ToolRun> => {
  const { egress } = call.tool
  if (egress === undefined) return runTool(talk, call)
  try {
    egress.requireCallable(call.input)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answer: createToolFailure(formatServiceError(error)), evidence: [] }
  }
  const refusal = await requestEgressApproval(talk, call, egress)
  return refusal === undefined ? runTool(talk, call) : { answer: createToolFailure(refusal), evidence: [] }
}

const runControlTool = async (
  talk: AnswerContext,
  { id: toolCallId, tool: { name }, input }: ParsedToolCall,
): Promise<ToolRun> => {
  try {
    return { answer: await requestApproval(talk, { name, toolCallId, input }), evidence: [] }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { answer: createToolFailure(formatServiceError(error)), evidence: [] }
  }
}

/** The result of a tool and its evidence. */
interface ToolRun {
  answer: ToolResult
  evidence: readonly Evidence[]
}

const maxFailureLength = 2_000

/** Runs one tool in a span of its own. */
const runTool = async (talk: AnswerContext, call: ParsedToolCall): Promise<ToolRun> => {
  const { name } = call.tool
  const span = startChildSpan(talk.tracer, `execute_tool ${name}`, 'internal', talk.call.trace, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': call.id,
    'gen_ai.tool.type': 'function',
  })
  try {
    const toolRun = await runToolWithinLimits({ ...talk, call: { ...talk.call, trace: span.trace } }, call)
    const { isError, code } = toolRun.answer
    if (isError) span.set({ 'error.type': code ?? 'tool_error' })
    span.end()
    return toolRun
  } catch (error) {
    span.end(error)
    throw error
  }
}

/** Runs one tool within the step timeout. Errors become results, so that the model can react to them. */
const runToolWithinLimits = async (talk: AnswerContext, call: ParsedToolCall): Promise<ToolRun> => {
  const { tool } = call
  const input = removeConversationHost(talk, call.input)
  const { query, evidence } = createRecordingClient(talk.context.query, talk.context.clock)
  const own = createStepCall(talk)
  try {
    requireFeature(own.identity, tool.feature ?? undefined, `the tool ${tool.name}`)
    const answer = await raceWithSignal(runWithHistory(tool, input, { ...talk.context, query, call: own }), own.signal)
    const collected = [...evidence, ...(answer.evidence ?? [])]
    if (collected.length > 0 || answer.evidence || answer.isError) return { answer, evidence: collected }
    const hostKey = tool.source ?? (await findHost(talk.context, getNumericHostId(input))).key
    const called = { hostKey, tool: tool.name, input: call.input, atMs: talk.context.clock.now() }
    return { answer, evidence: [createCallEvidence(called, answer)] }
  } catch (error) {
    talk.call.signal.throwIfAborted()
    if (error instanceof AnswerFailure) throw error
    const code = error instanceof ServiceError ? error.code : undefined
    return { answer: createToolFailure(describeFailure(talk, tool.name, error, own.signal), code), evidence }
  }
}

/** Removes `hostId` if it is the host of the conversation, because tools cannot resolve ids of user connections. */
const removeConversationHost = (
  { question }: AnswerContext,
  { hostId, ...input }: ParsedToolCall['input'],
): ParsedToolCall['input'] => (hostId === undefined || hostId === question.hostId ? input : { hostId, ...input })

/** Returns the host id if it is a number. An external tool may have a `hostId` parameter of another type. */
const getNumericHostId = ({ hostId }: ParsedToolCall['input']): number | undefined =>
  typeof hostId === 'number' ? hostId : undefined

const createStepCall = ({ call, settings, context }: AnswerContext): CallContext => {
  const stepMs = settings.SVC_AGENT_STEP_SECONDS * 1_000
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(stepMs)])
  return { ...call, priority: 'tool', signal, deadline: context.clock.elapsedMs() + stepMs }
}

/** Returns the result of the tool. Rejects as soon as the signal aborts, even if the tool ignores the signal. */
const raceWithSignal = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
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

const formatServiceError = ({ code, message }: ServiceError): string =>
  shortenText(`${code}: ${message}`, maxFailureLength)

const describeFailure = ({ log }: AnswerContext, tool: string, error: unknown, signal: AbortSignal): string => {
  if (signal.aborted) return 'the tool timed out; request less data'
  if (error instanceof ServiceError && error.code !== 'internal') return formatServiceError(error)
  log.error({ tool, err: error }, 'tool failed')
  return 'internal error; see the log of the service'
}
