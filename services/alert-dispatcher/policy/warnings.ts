import type { Logger } from 'pino'
import { type CustomRule, type HostThresholds, type RuleSettings, findThresholdProblem } from '#proto/alert-policy.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Rule, Thresholds } from '#proto/rules.ts'
import type { Environment } from '#shared/config/environment.ts'
import { findNearestNames, createNotFoundError } from '#shared/text/not-found.ts'
import { channels } from '../channels/index.ts'
import { findBrokenChannels, listEnabledTargets } from '../channels/targets.ts'
import { listWebhookTargets } from '../channels/webhook-targets.ts'
import type { PolicyProvider } from './open-policy.ts'
import type { Policy, NotificationRoute } from '../policy.ts'

/**
 * Returns the functions that log rules, routes and channels that do not work as configured. Routes and channels are
 * also checked once at start.
 */
export const createPolicyWarnings = async (env: Environment, log: Logger, book: Pick<PolicyProvider, 'current'>) => ({
  warnOfInvalidRules: createInvalidRuleWarning(log),
  warnOfLostRoutes: await createLostRouteWarning(env, log, book),
  warnOfBrokenChannels: await createBrokenChannelWarning(env, log, book),
})

/** Logs each unavailable channel once per reason, and logs its recovery. */
export type BrokenChannelReporter = (policy: Policy) => void

const createBrokenChannelWarning = async (
  env: Environment,
  log: Logger,
  book: Pick<PolicyProvider, 'current'>,
): Promise<BrokenChannelReporter> => {
  let warned = new Map<string, string>()
  const warn: BrokenChannelReporter = (policy) => {
    const broken = findBrokenChannels({ channels, env, policy })
    const isNew = ({ channel, reason }: { channel: string; reason: string }) => warned.get(channel) !== reason
    for (const { channel, reason, defect } of broken.filter(isNew)) {
      if (defect === undefined) log.warn({ channel, reason }, 'channel unavailable')
      else log.error({ channel, err: defect }, 'channel unavailable')
    }
    const now = new Map(broken.map(({ channel, reason }) => [channel, reason]))
    for (const channel of warned.keys()) if (!now.has(channel)) log.info({ channel }, 'channel recovered')
    warned = now
  }
  warn(await book.current())
  return warn
}

type TargetPolicy = Pick<Policy, 'channels' | 'webhookTargets' | 'subscriptions' | 'chatApplications'>

/** A route without effect: its target does not exist, is disabled or is incomplete. */
interface LostRoute {
  route: NotificationRoute
  /** Whether the target exists; it is then disabled or incomplete. */
  isKnown: boolean
  /** Never quotes the target, because users may enter an address there by mistake. */
  reason: string
}

/** Returns routes to targets that do not exist, are disabled or are incomplete. */
export const findRoutesWithoutTarget = (
  policy: TargetPolicy & Pick<Policy, 'routes'>,
  env: Environment,
): LostRoute[] => {
  const { names, reaching } = listDestinations(policy, env)
  return policy.routes
    .filter(({ target }) => !reaching.has(target))
    .map((route) => {
      const isKnown = names.has(route.target)
      const near = findNearestNames(route.target, names).join(', ')
      const reason = isKnown
        ? 'its target is disabled or incomplete'
        : `unknown channel or webhook target; nearest: ${near}`
      return { route, isKnown, reason }
    })
}

/** Throws `not-found` unless the target is the id of a channel (all its targets) or the name of a single target. */
export const requireTarget = (target: string, policy: TargetPolicy, env: Environment): void => {
  const { names } = listDestinations(policy, env)
  if (!names.has(target)) throw createNotFoundError('channel or webhook target', target, names, 'target')
}

/** Returns all names of channels and targets, and the names that currently lead to an enabled target. */
const listDestinations = (policy: TargetPolicy, env: Environment) => {
  const reaching = listEnabledTargets({ channels, env, policy }).flatMap(({ channel, name }) => [channel, name])
  const listed = listWebhookTargets(env, policy).map(({ name }) => name)
  return { names: new Set([...channels.map(({ id }) => id), ...listed, ...reaching]), reaching: new Set(reaching) }
}

/** Returns a function that logs routes without an enabled target, once per reason. Also logs them at start. */
const createLostRouteWarning = async (
  env: Environment,
  log: Logger,
  book: Pick<PolicyProvider, 'current'>,
): Promise<(policy: Policy) => void> => {
  let warned = new Map<string, string>()
  const warn = (policy: Policy): void => {
    const lost = findRoutesWithoutTarget(policy, env).filter(({ route }) => route.enabled)
    for (const { route, reason } of lost) {
      if (warned.get(route.id) === reason) continue
      log.warn(
        { route: route.id, reason },
        'route ignored: it has no reachable target; alerts that match no route go to every target',
      )
    }
    warned = new Map(lost.map(({ route, reason }) => [route.id, reason]))
  }
  warn(await book.current())
  return warn
}

/** The rules and metrics that exist. */
export interface RuleCatalogue {
  rules: readonly Pick<Rule, 'id' | 'thresholds'>[]
  metrics: readonly { id: string }[]
}

type RuleOverrides = Pick<Policy, 'rules' | 'custom' | 'sqlRules'>

/** An invalid rule setting and the reason. */
interface InvalidRule {
  rule: string
  failure: ServiceError
}

/**
 * Returns settings of unknown rules, rules on unknown metrics, and rules whose critical threshold is less severe than
 * the warning threshold.
 */
export const findInvalidRules = ({ rules, custom, sqlRules }: RuleOverrides, known: RuleCatalogue): InvalidRule[] => {
  const ids = new Set([...known.rules, ...custom, ...sqlRules].map(({ id }) => id))
  const metrics = new Set(known.metrics.map(({ id }) => id))
  const unknown = Object.keys(rules).filter((rule) => !ids.has(rule))
  const onNothing = custom.filter(({ metric }) => !metrics.has(metric))
  return [
    ...unknown.map((rule) => ({ rule, failure: createNotFoundError('rule', rule, ids, 'rule') })),
    ...onNothing.map(({ id, metric }) => ({
      rule: id,
      failure: createNotFoundError('metric', metric, metrics, 'metric'),
    })),
    ...known.rules.flatMap((rule) => findContradictions(rule, rules[rule.id])),
  ]
}

const findContradictions = (
  rule: RuleCatalogue['rules'][number],
  configured: RuleOverrides['rules'][string] = {},
): InvalidRule[] => {
  try {
    validateRuleSettings(rule, configured)
    return []
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [{ rule: rule.id, failure: error }]
  }
}

/** Logs each invalid rule setting once. */
export type InvalidRuleReporter = (policy: RuleOverrides, known: RuleCatalogue) => void

export const createInvalidRuleWarning = (log: Logger): InvalidRuleReporter => {
  const warned = new Set<string>()
  return (policy, known) => {
    for (const { rule, failure } of findInvalidRules(policy, known)) {
      const { message, details } = failure
      const warning = `${rule}: ${message}`
      if (warned.has(warning)) continue
      warned.add(warning)
      log.warn({ rule, reason: message, nearest: details?.nearest }, 'invalid rule setting ignored')
    }
  }
}

/** Throws `invalid` for contradictory thresholds of a custom rule or an SQL rule. */
export const validateOwnRule = (
  rule: Pick<CustomRule, 'operator' | 'warning' | 'critical' | 'hostThresholds'>,
): void => {
  const problem = findThresholdProblem(rule)
  if (problem !== undefined) throw createInvalidError('warning', problem)
  validateHostThresholds(toThresholds(rule), rule.hostThresholds)
}

/** Returns the thresholds of a custom rule or an SQL rule. */
export const toThresholds = ({
  operator,
  warning,
  critical,
}: Pick<CustomRule, 'operator' | 'warning' | 'critical'>): Thresholds => ({
  warning,
  critical,
  below: operator.startsWith('<'),
})

const validateHostThresholds = (thresholds: Thresholds, entries: readonly HostThresholds[] = []): void => {
  for (const { matchHost, matchGroup, warning = thresholds.warning, critical = thresholds.critical } of entries) {
    const conflict = findConflict({ ...thresholds, warning, critical })
    const hosts = matchGroup === '*' ? `host "${matchHost}"` : `host "${matchHost}" in group "${matchGroup}"`
    if (conflict !== undefined) throw createInvalidError('hostThresholds', `of ${hosts} ${conflict}`)
  }
}

/** Throws `invalid` if the overrides make the critical threshold of a rule less severe than its warning threshold. */
export const validateRuleSettings = ({ thresholds }: Pick<Rule, 'thresholds'>, configured: RuleSettings): void => {
  const warning = configured.warning ?? thresholds.warning
  const critical = configured.critical ?? thresholds.critical
  const overridden = { ...thresholds, warning, critical }
  const conflict = findConflict(overridden)
  if (conflict !== undefined)
    throw createInvalidError(configured.critical === undefined ? 'warning' : 'critical', conflict)
  validateHostThresholds(overridden, configured.hostThresholds)
}

/** Returns why a critical threshold is less severe than the warning threshold; undefined if it is not. */
const findConflict = ({ warning, critical, below }: Thresholds): string | undefined => {
  if (warning === null || critical === null) return undefined
  if (below ? critical <= warning : critical >= warning) return undefined
  const bound = below ? 'at most' : 'at least'
  return `conflicts: critical is ${critical} and warning is ${warning}; critical must be ${bound} warning`
}

const createInvalidError = (parameter: string, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })
