import type { MonitoredHost } from '../hosts/host-list.ts'

/**
 * How long a statement is waited for while its host does not answer the probe either. Two probes fit into it, so a
 * single one that was lost ends nothing.
 */
export const maxSilenceMs = 10_000

/** Which hosts do not answer the probe, and who waits for them. */
export interface Silence {
  /** Whether the last probe of a host went unanswered. */
  tell(host: MonitoredHost, isSilent: boolean): void
  /** Calls `giveUp` once the host has been silent for so long during the wait. */
  wait(host: MonitoredHost, giveUp: () => void): Wait
}

/** Somebody's wait. */
export interface Wait extends Disposable {
  /** The host has sent something, whatever the probe says: the time counts anew. */
  heard(): void
}

interface Awaited {
  isSilent: boolean
  waits: Set<(isSilent: boolean) => void>
}

/** Knows hosts by their object, so a changed host list begins anew. */
export const openSilence = (limitMs = maxSilenceMs): Silence => {
  const known = new WeakMap<MonitoredHost, Awaited>()

  const awaited = (host: MonitoredHost): Awaited => {
    const entry = known.get(host) ?? { isSilent: false, waits: new Set() }
    known.set(host, entry)
    return entry
  }

  return {
    tell(host, isSilent) {
      const entry = awaited(host)
      if (entry.isSilent === isSilent) return
      entry.isSilent = isSilent
      for (const change of entry.waits) change(isSilent)
    },
    wait(host, giveUp) {
      const { isSilent, waits } = awaited(host)
      let timer: NodeJS.Timeout | undefined
      const change = (nowSilent: boolean): void => {
        clearTimeout(timer)
        timer = nowSilent ? setTimeout(giveUp, limitMs) : undefined
      }
      change(isSilent)
      waits.add(change)
      return {
        heard: () => void timer?.refresh(),
        [Symbol.dispose]() {
          change(false)
          waits.delete(change)
        },
      }
    },
  }
}
