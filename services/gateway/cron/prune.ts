import type { Call, ServiceName } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { pruneMethods } from '#proto/prune.ts'
import type { Gateway } from '../gateway.ts'

type Owner = Client<{ name: ServiceName; methods: typeof pruneMethods }>
type Removed = Readonly<Record<string, number>>

/** Every service that keeps something for a stated time. */
const ownersOf = ({ alerts, report }: Gateway): Partial<Record<ServiceName, Owner>> => ({
  'alert-dispatcher': alerts,
  report,
})

/**
 * Asks all owners at once to remove what is too old. One that is not running has nothing to remove it from; when another
 * fails this throws, after all have been asked.
 */
export const pruneAll = async (gateway: Gateway, call: Call): Promise<Record<string, Removed>> => {
  const owners = Object.entries(ownersOf(gateway))
  const asked = await Promise.allSettled(owners.map(async ([, owner]) => (await owner.prune({}, call)).removed))
  const removed: Record<string, Removed> = {}
  const failed: string[] = []
  for (const [index, [name]] of owners.entries()) {
    const answer = asked[index]
    if (answer?.status === 'fulfilled') removed[name] = answer.value
    else if (!isNotRunning(answer?.reason)) failed.push(name)
  }
  if (failed.length === 0) return removed
  throw new ServiceError('unavailable', `${failed.join(' and ')} could not remove what is too old`, {
    details: { failed, removed },
  })
}

const isNotRunning = (error: unknown): boolean => error instanceof ServiceError && error.details?.running === false
