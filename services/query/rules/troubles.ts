import type { MonitoredHost } from '../hosts/host-list.ts'

/** Why the statement of a rule failed on a host. */
export interface Trouble {
  reason: string
  /** It would fail again: nothing but an upgrade or a right changes that. */
  isLasting: boolean
  /** For want of a right. */
  isDenied: boolean
}

/** Rights are given and servers replaced without our hearing of it, so it is tried again after so long. */
const rememberedMs = 1_800_000

/** Which statements failed on which host, so that the rules they would be asked with do not suffer again. */
export interface Troubles {
  of(host: MonitoredHost): (name: string) => Trouble | undefined
  tell(host: MonitoredHost, name: string, trouble: Trouble): void
}

/** Entries hang on the host object, so a changed host list begins anew; a host has one for each rule at most. */
export const openTroubles = (elapsedMs: () => number): Troubles => {
  const known = new WeakMap<MonitoredHost, Map<string, Trouble & { untilMs: number }>>()
  return {
    of(host) {
      const ofHost = known.get(host)
      return (name) => {
        const trouble = ofHost?.get(name)
        return trouble && trouble.untilMs > elapsedMs() ? trouble : undefined
      }
    },
    tell(host, name, trouble) {
      const troubles = known.get(host) ?? new Map()
      known.set(host, troubles.set(name, { ...trouble, untilMs: elapsedMs() + rememberedMs }))
    },
  }
}
