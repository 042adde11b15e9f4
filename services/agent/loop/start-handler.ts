import type { agent, AgentQuestion } from '#proto/agent.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { parseSettings, type SettingValues } from '#shared/config/setting.ts'
import { startChildSpan } from '#shared/telemetry/tracing.ts'
import { agentSettings } from '../config.ts'
import { extractEarlierAnswers, findLastEvidenceNumber, selectLatestMessages, toModelMessages } from './history.ts'
import { requireUserServersAllowed } from '../external-tools/external-tools.ts'
import { openHostText } from '../egress/host-text.ts'
import { openEvidenceLedger } from './evidence.ts'
import { runAnswer } from './answer.ts'
import { AnswerFailure } from './answer-failure.ts'
import { createChunkEmitter, type AnswerContext } from './answer-context.ts'
import { openUsageMeter, openAnswerTimeBudget, openToolCallLimiter } from './answer-limits.ts'
import { createPlanTool, createSearchToolsTool } from './own-tools.ts'
import { openPlan } from './plan.ts'
import { openToolbox, type Toolbox } from './toolbox.ts'
import type { ChosenModel } from '../models/model-choice.ts'
import { modelAttributes } from '../models/model-span.ts'
import type { AgentDeps } from '../agent-deps.ts'
import type { Run } from '../runs/run.ts'

type AgentSettingValues = SettingValues<typeof agentSettings>

/** Validates the question, starts a run and returns its id. The run continues in the background. */
export const createStartRunHandler =
  (parts: AgentDeps): ServiceHandlers<typeof agent>['start'] =>
  async (question, call) => {
    const settings = parseSettings(agentSettings, parts.env)
    const latest = selectLatestMessages(question.messages, settings.SVC_AGENT_MAX_MESSAGES)
    // Throws before the run starts if the conversation has no question.
    toModelMessages(latest)
    requireUserServersAllowed(question.userServers, call)
    const model = await parts.models.choose(question.model, call, question.apiKey ?? undefined)
    const run = parts.runs.start(call.identity, settings.SVC_AGENT_MAX_RUNS, (run) =>
      performRun(parts, { question, latest, call, settings, model, run }),
    )
    return { runId: run.id }
  }

interface StartedRun {
  question: AgentQuestion
  /** The messages that the model receives. Evidence numbers and host text are derived from all messages. */
  latest: AgentQuestion['messages']
  call: CallContext
  settings: AgentSettingValues
  model: ChosenModel
  run: Run
}

const performRun = async (parts: AgentDeps, started: StartedRun): Promise<void> => {
  const { settings, model, run, call } = started
  using time = openAnswerTimeBudget(settings.SVC_AGENT_RUN_SECONDS * 1_000)
  const span = startChildSpan(parts.tracer, 'invoke_agent Watchhouse', 'internal', call.trace, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'Watchhouse',
    ...modelAttributes(model, model.model),
  })
  const talk = createAnswerContext(parts, { ...started, call: { ...call, trace: span.trace } }, time)
  const outcome = await runAnswer(talk, () => createToolbox(parts, talk))
  const { inputTokens, outputTokens, durationMs, steps } = talk.meter.sum()
  span.set({ 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens })
  span.end(outcome === 'answered' || outcome === 'stopped' ? undefined : new AnswerFailure(outcome))
  parts.metrics.ended({ outcome, provider: model.provider, seconds: durationMs / 1_000, inputTokens, outputTokens })
  parts.log.info(
    {
      runId: run.id,
      outcome,
      provider: model.provider,
      model: model.id,
      steps,
      inputTokens,
      outputTokens,
      tookMs: durationMs,
    },
    'answer ended',
  )
}

const createAnswerContext = (
  parts: AgentDeps,
  { question, latest, call, settings, model, run }: StartedRun,
  time: AnswerContext['time'],
): Omit<AnswerContext, 'toolbox'> => {
  const { clients, clock, env, log, tracer, approvalRequests, egress } = parts
  const signal = AbortSignal.any([run.signal, time.signal])
  // The run continues after the call that started it, so it has its own signal and deadline.
  const own: CallContext = { ...call, signal, deadline: Number.MAX_SAFE_INTEGER }
  const emit = createChunkEmitter(run)
  const ledger = openEvidenceLedger(findLastEvidenceNumber(question.messages))
  const plan = openPlan()
  const tries = openToolCallLimiter()
  const hostText = openHostText()
  for (const each of extractEarlierAnswers(question.messages)) hostText.add(each)
  // The web UI attaches the page context automatically, so it counts as host text. The text of a question does not.
  if (question.page?.about.length) hostText.add(question.page)
  const hosts = async () => clients.query.hosts({}, { ...own, deadline: clock.elapsedMs() + hostsTimeoutMs })
  return {
    question: { ...question, messages: latest },
    run,
    call: own,
    model,
    settings,
    context: { ...clients, hostKey: question.hostKey, hosts, fullStatements: false, clock },
    env,
    emit,
    ledger,
    plan,
    tries,
    meter: openUsageMeter(model),
    time,
    approvalRequests,
    egress,
    hostText,
    log,
    tracer,
  }
}

/** Returns all tools of an answer, the agent's own first. */
const createToolbox = async (
  { toolsFor, clock }: AgentDeps,
  talk: Omit<AnswerContext, 'toolbox'>,
): Promise<Toolbox> => {
  const { question, call, plan, tries, emit } = talk
  const tools = await toolsFor(question, { ...call, deadline: clock.elapsedMs() + toolsTimeoutMs })
  const toolbox: Toolbox = openToolbox(
    [createPlanTool(plan, tries, emit), createSearchToolsTool(() => toolbox), ...tools],
    question.disabledTools,
  )
  return toolbox
}

const toolsTimeoutMs = 10_000
/** Timeout for the host list, which `query` returns from memory. */
const hostsTimeoutMs = 5_000
