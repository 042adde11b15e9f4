import type { Severity } from '#proto/rules.ts'
import type { Policy, Route } from '../policy.ts'

/** What a notice is about, as routes know it. */
export interface Subject {
  ruleId: string
  /** Key and name of the host, or the source of an inbound event. */
  hosts: readonly string[]
  group: string | null
  tags: readonly string[]
  /** Of a recovery: what it recovers from. */
  severity: Severity
}

/** A target as routing knows it. */
export interface Routable {
  channel: string
  name: string
  minSeverity: Severity | null
  /** Of what a person brought: what it is told of, in place of routes. */
  own?: Pick<Route, 'matchRule' | 'matchHost'> | undefined
}

/**
 * Who is to be told: the targets of all routes that match, else every target; a route whose target there is not matches nothing,
 * for otherwise nobody would be told. The floor is the route's, else the channel's, else the one for all, and none where `minSeverity`
 * is null; a target of several routes is told when any of them lets it.
 */
export const chooseTargets = <T extends Routable>(
  targets: readonly T[],
  subject: Subject,
  { routes, minSeverity }: Pick<Policy, 'routes'> & { minSeverity: Severity | null },
): T[] => {
  const leadsSomewhere = (route: Route) => targets.some((target) => !target.own && leadsTo(route, target))
  const matching = upToLast(routes.filter((route) => route.enabled && matches(route, subject) && leadsSomewhere(route)))
  const isTold = (target: T, floor: Severity | null) =>
    minSeverity === null || reaches(subject.severity, floor ?? target.minSeverity ?? minSeverity)
  return targets.filter((target) => {
    if (target.own) return matches({ ...anything, ...target.own }, subject) && isTold(target, null)
    if (matching.length === 0) return isTold(target, null)
    return matching.some((route) => leadsTo(route, target) && isTold(target, route.minSeverity))
  })
}

/** Of the routes that match those that are asked: all, or the first until one is the last. */
const upToLast = (routes: readonly Route[]): readonly Route[] => {
  const last = routes.findIndex((route) => route.last)
  return last === -1 ? routes : routes.slice(0, last + 1)
}

const anything = { matchGroup: '*', matchTag: '*', matchSeverity: '*' } as const

/** Whether a severity is at least as bad as a floor. */
const reaches = (severity: Severity, floor: Severity): boolean => floor === 'warning' || severity === 'critical'

const leadsTo = ({ target }: Route, { name, channel }: Routable): boolean => target === name || target === channel

type Matched = Pick<Route, 'matchRule' | 'matchHost' | 'matchGroup' | 'matchTag' | 'matchSeverity'>

const matches = (route: Matched, { ruleId, hosts, group, tags, severity }: Subject): boolean =>
  (route.matchSeverity === '*' || route.matchSeverity === severity) &&
  isLike(ruleId, route.matchRule) &&
  anyLike(hosts, route.matchHost) &&
  anyLike(group === null ? [] : [group], route.matchGroup) &&
  anyLike(tags, route.matchTag)

/** A lone star asks for nothing, so what has no group and no tags passes it too. */
const anyLike = (texts: readonly string[], pattern: string): boolean =>
  pattern === '*' || texts.some((text) => isLike(text, pattern))

/** Whether a text is like a pattern in which `*` stands for any text and `?` for one character; letters match in either case. */
export const isLike = (given: string, pattern: string): boolean => {
  const text = [...given.toLowerCase()]
  const wanted = [...pattern.toLowerCase()]
  let at = 0
  let of = 0
  /** Where the last star stood, and how much of the text it stands for so far: all that ever has to be tried again. */
  let star = -1
  let taken = 0
  while (at < text.length) {
    if (wanted[of] === '*') {
      star = of
      taken = at
      of += 1
    } else if (wanted[of] === '?' || wanted[of] === text[at]) {
      at += 1
      of += 1
    } else if (star >= 0) {
      taken += 1
      at = taken
      of = star + 1
    } else return false
  }
  return wanted.slice(of).every((character) => character === '*')
}
