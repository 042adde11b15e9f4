import type { Logger } from 'pino'

/** Hosts that a line of the log names. */
const namedHosts = 10

/** Hosts that a sweep could not measure or decide on. */
export interface Missed {
  add(what: 'measured' | 'swept', hostKey: string, error: unknown): void
  /** Whether every host was decided on. */
  areAllDecided(): boolean
  /** Logs them: one line for each cause, since what keeps one host from being measured mostly keeps all of them. */
  tell(): void
}

export const openMissed = (log: Logger): Missed => {
  const causes = new Map<string, { what: string; error: unknown; hosts: string[] }>()
  return {
    add(what, hostKey, error) {
      const cause = `${what} ${String(error)}`
      const known = causes.get(cause) ?? { what, error, hosts: [] }
      known.hosts.push(hostKey)
      causes.set(cause, known)
    },
    areAllDecided: () => [...causes.values()].every(({ what }) => what !== 'swept'),
    tell() {
      for (const { what, error, hosts } of causes.values()) {
        const facts = { err: error, hosts: hosts.length, named: hosts.slice(0, namedHosts) }
        // A host that cannot be measured is unknown, as its rules say; one that cannot be decided on is a defect.
        log[what === 'swept' ? 'error' : 'warn'](facts, `hosts could not be ${what}`)
      }
    },
  }
}
