import type { HostState } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { LivenessTracker } from '../clickhouse/liveness.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { HostRegistry } from '../hosts/hosts.ts'
import { type ProbedHost, probeOnce, type ProbedState, unknownState } from './probe-once.ts'

/** Pause between two probes of a host. With timeout and jitter, a state is never older than ten seconds. */
const pauseMs = 6_500
const jitterMs = 1_000
/** Interval of the check for due hosts. */
const tickMs = 250
/** Maximum concurrent probes: enough to probe a full host list in time while all of its hosts hang. */
const maxConcurrent = 500

/** Probes every host periodically and keeps the last known states. */
export interface Probe extends AsyncDisposable {
  states(): HostState[]
  /** Returns the data of the last probe of a host. */
  known(key: string): ProbedHost
  /** Returns the clock of the host minus the local clock; 0 while unknown. */
  skewMs(key: string): number
}

interface Watched extends ProbedHost {
  name: string
  dueMs: number
  probing: boolean
}

const unprobed: ProbedHost = {
  state: unknownState,
  load: null,
  hostname: null,
  timezone: null,
  aheadMs: null,
  loadless: undefined,
  loadPausedUntilMs: Number.NEGATIVE_INFINITY,
  checkedMs: null,
}

const unwatched = (name: string): Watched => ({ ...unprobed, name, dueMs: Number.NEGATIVE_INFINITY, probing: false })

interface ProbeDeps {
  hosts: HostRegistry
  client: DatabaseClient
  clock: Clock
  telemetry: Telemetry
  liveness: LivenessTracker
  random?: () => number
}

/** Sends one small statement to every host every few seconds, one at a time per host. */
export const openProbe = ({ hosts, client, clock, telemetry, liveness, random = Math.random }: ProbeDeps): Probe => {
  const { log } = telemetry
  const up = metrics.hostUp(telemetry.metrics)
  const watched = new Map<string, Watched>()
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()

  const start = (host: MonitoredHost, entry: Watched): void => {
    entry.probing = true
    const before = entry.state
    const probing: Promise<void> = probeOnce({ client, clock }, host, entry, stopping.signal)
      .then(() => {
        logChange(log, host, before, entry)
        liveness.report(host, isUnresponsive(entry.state))
        if (watched.get(host.key) === entry) up.set({ host: host.name }, entry.state.status === 'up' ? 1 : 0)
      })
      .catch((error: unknown) => log.error({ err: error, host: host.name }, 'probe failed'))
      .finally(() => {
        entry.probing = false
        // The pause counts from the response, not from the capability query after it.
        entry.dueMs =
          ((entry.state === before ? null : entry.checkedMs) ?? clock.elapsedMs()) + pauseMs - random() * jitterMs
        running.delete(probing)
      })
    running.add(probing)
  }

  const tick = (): void => {
    const list = hosts.list()
    for (const name of dropUnlisted(watched, list)) up.remove({ host: name })
    for (const host of list) {
      const entry = watched.get(host.key) ?? unwatched(host.name)
      watched.set(host.key, entry)
      if (!entry.probing && entry.dueMs <= clock.elapsedMs() && running.size < maxConcurrent) start(host, entry)
    }
  }
  tick()
  const timer = setInterval(tick, tickMs).unref()

  const known = (key: string): ProbedHost => watched.get(key) ?? unprobed
  const skewMs = (key: string): number => skewOf(known(key), clock)
  return {
    states: () =>
      hosts.list().map(({ id, key, name }) => ({ id, key, name, ...known(key).state, clockSkewMs: skewMs(key) })),
    known,
    skewMs,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** Returns the clock skew in milliseconds; 0 while unknown. Changes of the local wall clock take effect at once. */
const skewOf = ({ aheadMs }: ProbedHost, clock: Clock): number =>
  aheadMs === null ? 0 : Math.round(aheadMs + clock.elapsedMs() - clock.now())

/** Returns whether a host does not respond. A host that rejects the login or sends garbage does respond. */
const isUnresponsive = ({ reason }: ProbedState): boolean => reason === 'timeout' || reason === 'unreachable'

/** Removes hosts that are no longer listed and returns their names. */
const dropUnlisted = (watched: Map<string, Watched>, list: readonly MonitoredHost[]): string[] => {
  const listed = new Set(list.map(({ key }) => key))
  const dropped = [...watched].filter(([key]) => !listed.has(key))
  for (const [key] of dropped) watched.delete(key)
  return dropped.map(([, { name }]) => name)
}

/** Logs a change of status or reason once, not with every probe. */
const logChange = (
  log: Telemetry['log'],
  { name }: MonitoredHost,
  before: ProbedState,
  { state }: ProbedHost,
): void => {
  const { status, reason, failure } = state
  if (status === before.status && reason === before.reason) return
  if (status === 'down') log.warn({ host: name, reason, failure }, 'host unreachable')
  else if (before.status === 'down') log.info({ host: name }, 'host recovered')
}
