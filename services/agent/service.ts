import { agent } from '#proto/agent.ts'
import type { Context, Running, Start } from '#shared/lifecycle/service.ts'
import { handlers } from './handlers.ts'
import { type Further, openParts } from './parts.ts'

/** Readers of runs wait in their calls, so there are many of those. */
const maxInFlight = 4_096

/** Answers questions in words. */
export const start: Start = (context) => startWith(context)

/** Answers with more tools than those of the product. */
export const startWith = async (context: Context, further: Further = {}): Promise<Running> => {
  await using opened = new AsyncDisposableStack()
  const parts = await openParts(context, further, opened)
  const { runs } = parts
  opened.use(await context.bus.serve(agent, handlers(parts), { maxInFlight, load: () => runs.running }))
  // Ended first, so that whoever reads a run hears how it ends.
  opened.use(runs)
  context.telemetry.log.info('agent serves')
  return opened.move()
}
