import type { MonitoredHost } from '../hosts/host-list.ts'

/** The reason why the statement of a rule failed on a host. */
export interface RuleFailure {
  reason: string
  /** Whether the rule fails until the server is upgraded or a grant is added. */
  isPersistent: boolean
  /** Whether a grant is missing. */
  isDenied: boolean
}

/** The time until a failed statement is retried, because grants and servers may change. */
const rememberedMs = 1_800_000

/** Remembers which rules failed on which host, so that they do not fail a shared statement again. */
export interface RuleFailureRegistry {
  of(host: MonitoredHost): (name: string) => RuleFailure | undefined
  record(host: MonitoredHost, name: string, trouble: RuleFailure): void
}

/** Returns an empty registry. Entries are keyed by the host object, so a changed host list drops them. */
export const openRuleFailureRegistry = (elapsedMs: () => number): RuleFailureRegistry => {
  const known = new WeakMap<MonitoredHost, Map<string, RuleFailure & { untilMs: number }>>()
  return {
    of(host) {
      const ofHost = known.get(host)
      return (name) => {
        const trouble = ofHost?.get(name)
        return trouble && trouble.untilMs > elapsedMs() ? trouble : undefined
      }
    },
    record(host, name, trouble) {
      const troubles = known.get(host) ?? new Map()
      known.set(host, troubles.set(name, { ...trouble, untilMs: elapsedMs() + rememberedMs }))
    },
  }
}
