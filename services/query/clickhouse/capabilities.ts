import type { MonitoredHost } from '../hosts/host-list.ts'
import type { RotatedLogs } from './rotated-logs.ts'

/** What a host can do for its configured user. */
export interface Capabilities {
  version: string
  /** The `readonly` setting of the user's profile: 1 forbids every setting in a request. */
  readonly: number
  /** Tables of the database `system` that the user may see; the same object for hosts that have the same ones and read their logs alike. */
  tables: ReadonlySet<string>
  /** Of these, what is read of logs that were rotated. */
  logs: RotatedLogs
}

export type Presence = 'present' | 'missing' | 'denied'

const freshMs = 60_000
/** Older than this an answer is waited for instead of being renewed behind the caller's back. */
const usableMs = 300_000

interface Known {
  capabilities: Capabilities
  learnedMs: number
  presences: Map<string, Promise<Presence>>
}

/** Remembers what hosts can do. Failures are never remembered: neither of a host nor of one table. */
export interface CapabilityCache {
  of(host: MonitoredHost, load: () => Promise<Capabilities>): Promise<Capabilities>
  /** Whether a table outside what `of` told is there. */
  presence(host: MonitoredHost, table: string, look: () => Promise<Presence>): Promise<Presence>
  /** What is known already, however old. */
  known(host: MonitoredHost): Capabilities | undefined
  forget(host: MonitoredHost): void
}

/** Entries hang on the host object, so a changed host list begins anew. */
export const openCapabilityCache = (elapsedMs: () => number): CapabilityCache => {
  const known = new WeakMap<MonitoredHost, Known>()

  const renew = async (host: MonitoredHost, load: () => Promise<Capabilities>): Promise<Capabilities> => {
    const capabilities = await load()
    known.set(host, { capabilities, learnedMs: elapsedMs(), presences: new Map() })
    return capabilities
  }

  return {
    async of(host, load) {
      const entry = known.get(host)
      const ageMs = entry ? elapsedMs() - entry.learnedMs : Number.POSITIVE_INFINITY
      if (entry && ageMs < freshMs) return entry.capabilities
      if (!entry || ageMs >= usableMs) return renew(host, load)
      renew(host, load).catch(() => undefined)
      return entry.capabilities
    },
    async presence(host, table, look) {
      const presences = known.get(host)?.presences
      const remembered = presences?.get(table)
      if (remembered) return remembered
      const looking = look()
      presences?.set(table, looking)
      try {
        return await looking
      } catch (error) {
        presences?.delete(table)
        throw error
      }
    },
    known: (host) => known.get(host)?.capabilities,
    forget: (host) => void known.delete(host),
  }
}
