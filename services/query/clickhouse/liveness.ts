import type { MonitoredHost } from '../hosts/host-list.ts'

/**
 * Maximum time that a statement waits for a host that does not respond to the probe, in milliseconds. It covers two
 * probes, so that one lost probe does not abort statements.
 */
export const maxUnresponsiveMs = 10_000

/** Tracks which hosts respond to the probe, and aborts the statements of those that do not. */
export interface LivenessTracker {
  /** Records the result of the last probe of a host. */
  report(host: MonitoredHost, isUnresponsive: boolean): void
  /** Calls `giveUp` after the host has been unresponsive for the maximum time during this watch. */
  watch(host: MonitoredHost, giveUp: () => void): LivenessWatch
}

export interface LivenessWatch extends Disposable {
  /** Restarts the timeout, because the host has sent data. */
  refresh(): void
}

interface HostLiveness {
  isUnresponsive: boolean
  watches: Set<(isUnresponsive: boolean) => void>
}

/** Returns an empty tracker. Hosts are identified by their object, so a changed host list starts without history. */
export const openLivenessTracker = (limitMs = maxUnresponsiveMs): LivenessTracker => {
  const known = new WeakMap<MonitoredHost, HostLiveness>()

  const livenessOf = (host: MonitoredHost): HostLiveness => {
    const entry = known.get(host) ?? { isUnresponsive: false, watches: new Set() }
    known.set(host, entry)
    return entry
  }

  return {
    report(host, isUnresponsive) {
      const entry = livenessOf(host)
      if (entry.isUnresponsive === isUnresponsive) return
      entry.isUnresponsive = isUnresponsive
      for (const onChange of entry.watches) onChange(isUnresponsive)
    },
    watch(host, giveUp) {
      const { isUnresponsive, watches } = livenessOf(host)
      let timer: NodeJS.Timeout | undefined
      const onChange = (isNowUnresponsive: boolean): void => {
        clearTimeout(timer)
        timer = isNowUnresponsive ? setTimeout(giveUp, limitMs) : undefined
      }
      onChange(isUnresponsive)
      watches.add(onChange)
      return {
        refresh: () => void timer?.refresh(),
        [Symbol.dispose]() {
          onChange(false)
          watches.delete(onChange)
        },
      }
    },
  }
}
