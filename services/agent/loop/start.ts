import type { agent, AgentQuestion } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { read, type Values } from '#shared/config/setting.ts'
import { agentSettings } from '../config.ts'
import { earlierAnswers, lastEvidence, historyOf } from './history.ts'
import { requireBringing } from '../external/open.ts'
import { openHostText } from '../egress/host-text.ts'
import { openLedger } from './evidence.ts'
import { answer } from './answer.ts'
import { tellerOf, type Talk } from './talk.ts'
import { openMeter, openTimeLeft, openTries } from './answer-limits.ts'
import { planTool, searchTools } from './own-tools.ts'
import { openPlan } from './plan.ts'
import { openToolbox, type Toolbox } from './toolbox.ts'
import type { ChosenModel } from '../models/choose.ts'
import type { Parts } from '../parts.ts'
import type { Run } from '../runs/run.ts'

type Obeyed = Values<typeof agentSettings>

/** Refuses what cannot be answered while it can still be refused, and then leaves the run to itself. */
export const start =
  (parts: Parts): Handlers<typeof agent>['start'] =>
  async (question, call) => {
    const settings = read(agentSettings, parts.env)
    requireFitting(question, settings)
    requireBringing(question.userServers, call)
    const model = await parts.models.choose(question.model, call, question.apiKey ?? undefined)
    const run = parts.runs.start(call.identity, settings.SVC_AGENT_MAX_RUNS, (run) =>
      work(parts, { question, call, settings, model, run }),
    )
    return { runId: run.id }
  }

const requireFitting = ({ messages }: AgentQuestion, { SVC_AGENT_MAX_MESSAGES: most }: Obeyed): void => {
  if (messages.length > most) {
    throw new ServiceError('invalid', `messages must have at most ${most} items`, {
      details: { parameter: 'messages', maxMessages: most },
    })
  }
  historyOf(messages)
}

interface Begun {
  question: AgentQuestion
  call: Call
  settings: Obeyed
  model: ChosenModel
  run: Run
}

const work = async (parts: Parts, begun: Begun): Promise<void> => {
  const { settings, model, run } = begun
  using time = openTimeLeft(settings.SVC_AGENT_RUN_SECONDS * 1_000)
  const talk = talkOf(parts, begun, time)
  const outcome = await answer(talk, () => toolboxFor(parts, talk))
  const { inputTokens, outputTokens, durationMs, steps } = talk.meter.sum()
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

const talkOf = (
  parts: Parts,
  { question, call, settings, model, run }: Begun,
  time: Talk['time'],
): Omit<Talk, 'toolbox'> => {
  const { clients, clock, env, log, wishes, egress } = parts
  const signal = AbortSignal.any([run.signal, time.signal])
  // The run goes on when its caller has left, so it has a signal and a deadline of its own.
  const own: Call = { ...call, signal, deadline: Number.MAX_SAFE_INTEGER }
  const tell = tellerOf(run)
  const ledger = openLedger(lastEvidence(question.messages))
  const plan = openPlan()
  const tries = openTries()
  const hostText = openHostText()
  for (const each of earlierAnswers(question.messages)) hostText.add(each)
  // The page attaches this by itself. A question's own text is the person's, whatever they pasted into it.
  if (question.page?.about.length) hostText.add(question.page)
  const hosts = async () => clients.query.hosts({}, { ...own, deadline: clock.elapsedMs() + hostsWithinMs })
  return {
    question,
    run,
    call: own,
    model,
    settings,
    context: { ...clients, hostKey: question.hostKey, hosts, fullStatements: false, clock },
    env,
    tell,
    ledger,
    plan,
    tries,
    meter: openMeter(model),
    time,
    wishes,
    egress,
    hostText,
    log,
  }
}

/** All tools of an answer, its own first. */
const toolboxFor = async ({ toolsFor, clock }: Parts, talk: Omit<Talk, 'toolbox'>): Promise<Toolbox> => {
  const { question, call, plan, tries, tell } = talk
  const tools = await toolsFor(question, { ...call, deadline: clock.elapsedMs() + toolsWithinMs })
  const toolbox: Toolbox = openToolbox(
    [planTool(plan, tries, tell), searchTools(() => toolbox), ...tools],
    question.disabledTools,
  )
  return toolbox
}

/** How long it may take to learn which tools there are. */
const toolsWithinMs = 10_000
/** How long `query` may take to name its hosts, which it does from memory. */
const hostsWithinMs = 5_000
