import type { Call, ServiceName } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { read } from '#shared/config/setting.ts'
import { auditSettings } from '../audit/config.ts'
import type { Gateway } from '../gateway.ts'

type Removed = Readonly<Record<string, number>>

/** Every service that keeps something for a stated time, the gateway itself among them. */
const ownersOf = (gateway: Gateway): Partial<Record<ServiceName, (call: Call) => Promise<Removed>>> => ({
  gateway: async () => ({ audit: await pruneAudit(gateway) }),
  agent: async (call) => (await gateway.agent.prune({}, call)).removed,
  'alert-dispatcher': async (call) => (await gateway.alerts.prune({}, call)).removed,
  ingest: async (call) => (await gateway.ingest.prune({}, call)).removed,
  report: async (call) => (await gateway.report.prune({}, call)).removed,
})

/**
 * Asks all owners at once to remove what is too old. One that is not running, or whose release keeps nothing, has nothing to
 * remove it from; when another fails this throws, after all have been asked.
 */
export const pruneAll = async (gateway: Gateway, call: Call): Promise<Record<string, Removed>> => {
  const owners = Object.entries(ownersOf(gateway))
  const asked = await Promise.allSettled(owners.map(([, prune]) => prune(call)))
  const removed: Record<string, Removed> = {}
  const failed: string[] = []
  for (const [index, [name]] of owners.entries()) {
    const answer = asked[index]
    if (answer?.status === 'fulfilled') removed[name] = answer.value
    else if (!keepsNothing(answer?.reason)) failed.push(name)
  }
  if (failed.length === 0) return removed
  throw new ServiceError('unavailable', `${failed.join(' and ')} could not remove what is too old`, {
    details: { failed, removed },
  })
}

const dayMs = 86_400_000

const pruneAudit = ({ audit, clock, env }: Gateway): Promise<number> =>
  audit.prune(clock.now() - read(auditSettings, env).SVC_AUDIT_DAYS * dayMs)

const keepsNothing = (error: unknown): boolean =>
  error instanceof ServiceError && (error.details?.running === false || error.code === 'not-implemented')
