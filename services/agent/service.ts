import { agent } from '#proto/agent.ts'
import type { ServiceContext, RunningService, ServiceStarter } from '#shared/lifecycle/service.ts'
import { type AgentOverrides, openAgentDeps, type AgentDeps } from './agent-deps.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { createConversationHandlers } from './conversations/conversations.ts'
import { createExternalHandlers } from './external-tools/external-tools.ts'
import { createModelHandlers } from './models/models.ts'
import { createSkillHandlers } from './skills/skills.ts'
import { resolveApproval, takeApproval } from './approvals/approval-requests.ts'
import { decideEgress } from './egress/egress-requests.ts'
import { createReadRunHandler, createStopRunHandler } from './runs/runs.ts'
import { createStartRunHandler as startAnswer } from './loop/start-handler.ts'
import { createSummarizeHandler } from './models/complete-text.ts'

const createHandlers = (parts: AgentDeps): ServiceHandlers<typeof agent> => ({
  start: startAnswer(parts),
  read: createReadRunHandler(parts),
  stop: createStopRunHandler(parts),
  takeApproval: takeApproval(parts),
  resolveApproval: resolveApproval(parts),
  decideEgress: decideEgress(parts),
  summarize: createSummarizeHandler(parts),
  ...createConversationHandlers(parts.conversations),
  ...createModelHandlers(parts),
  ...createSkillHandlers(parts.skills),
  ...createExternalHandlers(parts),
})

/** Maximum number of concurrent bus calls. It is high, because each reader of a run waits within a call. */
const maxConcurrentCalls = 4_096

/** Starts the agent service. */
export const start: ServiceStarter = (context) => startWithOverrides(context)

/** Starts the agent with overrides for tests. */
export const startWithOverrides = async (
  context: ServiceContext,
  further: AgentOverrides = {},
): Promise<RunningService> => {
  await using opened = new AsyncDisposableStack()
  const parts = await openAgentDeps(context, further, opened)
  const { runs } = parts
  opened.use(
    await context.bus.serve(agent, createHandlers(parts), {
      maxInFlight: maxConcurrentCalls,
      load: () => runs.running,
    }),
  )
  // Disposed first, so that readers of the runs receive the final events.
  opened.use(runs)
  context.telemetry.log.info('agent started')
  return opened.move()
}
