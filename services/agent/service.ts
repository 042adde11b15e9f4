import { agent } from '#proto/agent.ts'
import type { Context, RunningService, Start } from '#shared/lifecycle/service.ts'
import { handlers } from './handlers.ts'
import { type Further, openParts } from './parts.ts'

/** Readers of runs wait within their calls, so many calls are open at a time. */
const maxInFlight = 4_096

/** Starts the agent service. */
export const start: Start = (context) => startWith(context)

/** Starts the agent with overrides for tests. */
export const startWith = async (context: Context, further: Further = {}): Promise<RunningService> => {
  await using opened = new AsyncDisposableStack()
  const parts = await openParts(context, further, opened)
  const { runs } = parts
  opened.use(await context.bus.serve(agent, handlers(parts), { maxInFlight, load: () => runs.running }))
  // Runs end first, so that their readers receive the final events.
  opened.use(runs)
  context.telemetry.log.info('agent started')
  return opened.move()
}
