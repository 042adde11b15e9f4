import type { Logger } from 'pino'
import { type CustomRule, type RuleSettings, thresholdProblem } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Rule } from '#proto/rules.ts'
import type { Environment } from '#shared/config/environment.ts'
import { nearestTo, noSuch } from '#shared/text/no-such.ts'
import { channels } from '../channels/index.ts'
import { brokenChannels, targetsNow } from '../channels/targets.ts'
import { listedTargets } from '../channels/webhook-targets.ts'
import type { PolicyBook } from './open-policy.ts'
import type { Policy, Route } from '../policy.ts'

/** Opens what logs, at the start and with each sweep, the rules, routes and channels that cannot work as they are configured. */
export const openWarnings = async (env: Environment, log: Logger, book: Pick<PolicyBook, 'current'>) => ({
  warnOfUnsoundRules: openUnsoundRules(log),
  warnOfLostRoutes: await openLostRoutes(env, log, book),
  warnOfBrokenChannels: await openBrokenChannels(env, log, book),
})

/** Logs each channel that cannot be used, once for each reason, and again when it can be used. */
export type WarnOfBrokenChannels = (policy: Policy) => void

const openBrokenChannels = async (
  env: Environment,
  log: Logger,
  book: Pick<PolicyBook, 'current'>,
): Promise<WarnOfBrokenChannels> => {
  let warned = new Map<string, string>()
  const warn: WarnOfBrokenChannels = (policy) => {
    const broken = brokenChannels({ channels, env, policy })
    const isNew = ({ channel, reason }: { channel: string; reason: string }) => warned.get(channel) !== reason
    for (const { channel, reason, defect } of broken.filter(isNew)) {
      if (defect === undefined) log.warn({ channel, reason }, 'channel cannot be used')
      else log.error({ channel, err: defect }, 'channel cannot be used')
    }
    const now = new Map(broken.map(({ channel, reason }) => [channel, reason]))
    for (const channel of warned.keys()) if (!now.has(channel)) log.info({ channel }, 'channel can be used again')
    warned = now
  }
  warn(await book.current())
  return warn
}

type Reached = Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>

/** A route that matches nothing because it leads to nobody. */
interface LostRoute {
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
const openLostRoutes = async (
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

/** What there is to settle something about. */
export interface Catalogue {
  rules: readonly Pick<Rule, 'id' | 'thresholds'>[]
  metrics: readonly { id: string }[]
}

type Settled = Pick<Policy, 'rules' | 'custom'>

/** A rule about which something is settled that cannot be meant, and why. */
interface UnsoundRule {
  rule: string
  failure: ServiceError
}

/** Rules that there are not, those on metrics that there are not, and those whose critical begins before their warning. */
export const unsoundRules = ({ rules, custom }: Settled, known: Catalogue): UnsoundRule[] => {
  const ids = new Set([...known.rules, ...custom].map(({ id }) => id))
  const metrics = new Set(known.metrics.map(({ id }) => id))
  const unknown = Object.keys(rules).filter((rule) => !ids.has(rule))
  const onNothing = custom.filter(({ metric }) => !metrics.has(metric))
  return [
    ...unknown.map((rule) => ({ rule, failure: noSuch('rule', rule, ids, 'rule') })),
    ...onNothing.map(({ id, metric }) => ({ rule: id, failure: noSuch('metric', metric, metrics, 'metric') })),
    ...known.rules.flatMap((rule) => contradictionIn(rule, rules[rule.id])),
  ]
}

const contradictionIn = (rule: Catalogue['rules'][number], settled: Settled['rules'][string] = {}): UnsoundRule[] => {
  try {
    requireSoundSettings(rule, settled)
    return []
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [{ rule: rule.id, failure: error }]
  }
}

/** Hears what there is, and warns once of each rule about which something is settled that cannot be meant. */
export type WarnOfUnsoundRules = (policy: Settled, known: Catalogue) => void

export const openUnsoundRules = (log: Logger): WarnOfUnsoundRules => {
  const warned = new Set<string>()
  return (policy, known) => {
    for (const { rule, failure } of unsoundRules(policy, known)) {
      const { message, details } = failure
      const warning = `${rule}: ${message}`
      if (warned.has(warning)) continue
      warned.add(warning)
      log.warn({ rule, reason: message, nearest: details?.nearest }, 'what is settled about a rule cannot be meant')
    }
  }
}

/** Throws `invalid` for thresholds of a custom rule that contradict each other. */
export const requireSoundRule = (rule: Omit<CustomRule, 'id'>): void => {
  const problem = thresholdProblem(rule)
  if (problem !== undefined) throw invalid('warning', problem)
}

/** Throws `invalid` when what is settled about a rule would have critical begin before warning. */
export const requireSoundSettings = ({ thresholds }: Pick<Rule, 'thresholds'>, settled: RuleSettings): void => {
  const { below } = thresholds
  const warning = settled.warning ?? thresholds.warning
  const critical = settled.critical ?? thresholds.critical
  if (warning === null || critical === null) return
  if (below ? critical <= warning : critical >= warning) return
  const parameter = settled.critical === undefined ? 'warning' : 'critical'
  const bound = below ? 'at most' : 'at least'
  throw invalid(
    parameter,
    `leaves critical at ${critical} and warning at ${warning}: critical must be ${bound} warning`,
  )
}

const invalid = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })
