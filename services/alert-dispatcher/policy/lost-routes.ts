import type { Logger } from 'pino'
import type { Environment } from '#shared/config/environment.ts'
import { nearestTo, noSuch } from '#shared/no-such.ts'
import { channels } from '../channels/index.ts'
import { targetsNow } from '../channels/targets.ts'
import { listedTargets } from '../channels/webhook-targets.ts'
import type { PolicyBook } from './open-policy.ts'
import type { Policy, Route } from './policy.ts'

type Reached = Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>

/** A route that matches nothing because it leads to nobody. */
export interface LostRoute {
  route: Route
  /** Whether there is such a target, which then reaches nobody at present. */
  isKnown: boolean
  /** Never says the target, in whose place an address may stand by mistake. */
  reason: string
}

/** Routes to what there is not, and to what is switched off or lacks what it needs. */
export const lostRoutes = (policy: Reached & Pick<Policy, 'routes'>, env: Environment): LostRoute[] => {
  const { names, reaching } = destinations(policy, env)
  return policy.routes
    .filter(({ target }) => !reaching.has(target))
    .map((route) => {
      const isKnown = names.has(route.target)
      const near = nearestTo(route.target, names).join(', ')
      const reason = isKnown
        ? 'its target is switched off or lacks what it needs'
        : `its target is no channel or webhook target; nearest are ${near}`
      return { route, isKnown, reason }
    })
}

/** Throws `not-found` for what no route can lead to: neither a channel, which means all its targets, nor a target. */
export const requireTarget = (target: string, policy: Reached, env: Environment): void => {
  const { names } = destinations(policy, env)
  if (!names.has(target)) throw noSuch('channel or webhook target', target, names, 'target')
}

/** Names of channels and targets: all, and those by which somebody is reached now. */
const destinations = (policy: Reached, env: Environment) => {
  const reaching = targetsNow({ channels, env, policy }).flatMap(({ channel, name }) => [channel, name])
  const listed = listedTargets(env, policy).map(({ name }) => name)
  return { names: new Set([...channels.map(({ id }) => id), ...listed, ...reaching]), reaching: new Set(reaching) }
}

/** Warns of each route that leads to nobody now, and of those that will have come to it when it is called again. */
export const openLostRoutes = async (
  env: Environment,
  log: Logger,
  book: Pick<PolicyBook, 'current'>,
): Promise<(policy: Policy) => void> => {
  let warned = new Map<string, string>()
  const warn = (policy: Policy): void => {
    const lost = lostRoutes(policy, env).filter(({ route }) => route.enabled)
    for (const { route, reason } of lost) {
      if (warned.get(route.id) === reason) continue
      log.warn(
        { route: route.id, reason },
        'route leads to nobody and matches nothing; what no other matches goes to every target',
      )
    }
    warned = new Map(lost.map(({ route, reason }) => [route.id, reason]))
  }
  warn(await book.current())
  return warn
}
