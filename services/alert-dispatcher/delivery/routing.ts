import type { Severity } from '#proto/rules.ts'
import type { Policy, NotificationRoute } from '../policy.ts'

/** The properties of a notification that routes match. */
export interface RouteSubject {
  ruleId: string
  /** Key and name of the host, or the source of an inbound event. */
  hosts: readonly string[]
  group: string | null
  tags: readonly string[]
  /** For a recovery, the severity that it recovers from. */
  severity: Severity
}

/** The properties of a target that routing uses. */
export interface RoutableTarget {
  channel: string
  name: string
  minSeverity: Severity | null
  /** Matchers of a user subscription, which replace the routes. */
  own?: Pick<NotificationRoute, 'matchRule' | 'matchHost'> | undefined
}

/**
 * Selects the targets of all matching routes, or every target if no route matches. A route without an existing target
 * matches nothing, because its alerts would be lost. The minimum severity is that of the route, else of the channel,
 * else the global one; none applies if `minSeverity` is null. With several routes, the lowest minimum applies.
 */
export const selectTargets = <T extends RoutableTarget>(
  targets: readonly T[],
  subject: RouteSubject,
  { routes, minSeverity }: Pick<Policy, 'routes'> & { minSeverity: Severity | null },
): T[] => {
  const leadsSomewhere = (route: NotificationRoute) =>
    targets.some((target) => !target.own && isTargetOfRoute(route, target))
  const matching = takeUpToLast(
    routes.filter((route) => route.enabled && matches(route, subject) && leadsSomewhere(route)),
  )
  const isSelected = (target: T, minimum: Severity | null) =>
    minSeverity === null || reaches(subject.severity, minimum ?? target.minSeverity ?? minSeverity)
  return targets.filter((target) => {
    if (target.own) return matches({ ...matchAllMatchers, ...target.own }, subject) && isSelected(target, null)
    if (matching.length === 0) return isSelected(target, null)
    return matching.some((route) => isTargetOfRoute(route, target) && isSelected(target, route.minSeverity))
  })
}

/** Returns the matching routes up to the first one marked as last. */
const takeUpToLast = (routes: readonly NotificationRoute[]): readonly NotificationRoute[] => {
  const last = routes.findIndex((route) => route.last)
  return last === -1 ? routes : routes.slice(0, last + 1)
}

const matchAllMatchers = { matchGroup: '*', matchTag: '*', matchSeverity: '*' } as const

/** Returns whether a severity reaches the minimum. */
const reaches = (severity: Severity, minimum: Severity): boolean => minimum === 'warning' || severity === 'critical'

const isTargetOfRoute = ({ target }: NotificationRoute, { name, channel }: RoutableTarget): boolean =>
  target === name || target === channel

type RouteMatchers = Pick<NotificationRoute, 'matchRule' | 'matchHost' | 'matchGroup' | 'matchTag' | 'matchSeverity'>

const matches = (route: RouteMatchers, { ruleId, hosts, group, tags, severity }: RouteSubject): boolean =>
  (route.matchSeverity === '*' || route.matchSeverity === severity) &&
  matchesPattern(ruleId, route.matchRule) &&
  matchesAny(hosts, route.matchHost) &&
  matchesAny(group === null ? [] : [group], route.matchGroup) &&
  matchesAny(tags, route.matchTag)

/** Returns whether the pattern matches any of the texts. `*` alone also matches a host without group or tags. */
const matchesAny = (texts: readonly string[], pattern: string): boolean =>
  pattern === '*' || texts.some((text) => matchesPattern(text, pattern))

/** Returns whether a text matches a pattern, ignoring case: `*` matches any text and `?` one character. */
export const matchesPattern = (input: string, pattern: string): boolean => {
  const text = [...input.toLowerCase()]
  const expected = [...pattern.toLowerCase()]
  let at = 0
  let of = 0
  /** Position of the last star in the pattern, and where its match ends in the text, for backtracking. */
  let star = -1
  let covered = 0
  while (at < text.length) {
    if (expected[of] === '*') {
      star = of
      covered = at
      of += 1
    } else if (expected[of] === '?' || expected[of] === text[at]) {
      at += 1
      of += 1
    } else if (star >= 0) {
      covered += 1
      at = covered
      of = star + 1
    } else return false
  }
  return expected.slice(of).every((character) => character === '*')
}
