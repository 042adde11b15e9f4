import { agent } from '#proto/agent.ts'
import type { ServiceContext, RunningService, Start } from '#shared/lifecycle/service.ts'
import { type AgentOverrides, openAgentDeps, type AgentDeps } from './agent-deps.ts'
import type { Handlers } from '#proto/contract.ts'
import { conversationHandlers } from './conversations/open.ts'
import { externalHandlers } from './external/open.ts'
import { modelHandlers } from './models/open.ts'
import { skillHandlers } from './skills/skills.ts'
import { resolveApproval, takeApproval } from './approvals/approval-requests.ts'
import { decideEgress } from './egress/egress-requests.ts'
import { createReadHandler, createStopHandler } from './runs/runs.ts'
import { createStartHandler as startAnswer } from './loop/start.ts'
import { summarize } from './models/complete-text.ts'

const handlers = (parts: AgentDeps): Handlers<typeof agent> => ({
  start: startAnswer(parts),
  read: createReadHandler(parts),
  stop: createStopHandler(parts),
  takeApproval: takeApproval(parts),
  resolveApproval: resolveApproval(parts),
  decideEgress: decideEgress(parts),
  summarize: summarize(parts),
  ...conversationHandlers(parts.conversations),
  ...modelHandlers(parts),
  ...skillHandlers(parts.skills),
  ...externalHandlers(parts),
})

/** Maximum number of concurrent bus calls. It is high, because each reader of a run waits within a call. */
const maxInFlight = 4_096

/** Starts the agent service. */
export const start: Start = (context) => startWith(context)

/** Starts the agent with overrides for tests. */
export const startWith = async (context: ServiceContext, further: AgentOverrides = {}): Promise<RunningService> => {
  await using opened = new AsyncDisposableStack()
  const parts = await openAgentDeps(context, further, opened)
  const { runs } = parts
  opened.use(await context.bus.serve(agent, handlers(parts), { maxInFlight, load: () => runs.running }))
  // Disposed first, so that readers of the runs receive the final events.
  opened.use(runs)
  context.telemetry.log.info('agent started')
  return opened.move()
}
