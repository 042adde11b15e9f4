import type { HostState } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { Silence } from '../clickhouse/silence.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Hosts } from '../hosts/hosts.ts'
import { type Known, probeOnce, type State, unknownState } from './probe-once.ts'

/** With its timeout and the jitter a state is never older than ten seconds. */
const pauseMs = 6_500
const jitterMs = 1_000
/** How often it is looked which hosts are due. */
const tickMs = 250
/** With all hosts of a full list hanging, every one still gets its turn in time. */
const maxAtOnce = 500

/** The last known state of every host. */
export interface Probe extends AsyncDisposable {
  states(): HostState[]
  /** All that the last probe of a host found. */
  known(key: string): Known
  /** Their clock minus ours; 0 while unknown. */
  skewMs(key: string): number
}

interface Watched extends Known {
  name: string
  dueMs: number
  probing: boolean
}

const unprobed: Known = {
  state: unknownState,
  load: null,
  hostname: null,
  aheadMs: null,
  loadless: undefined,
  loadRestsUntilMs: Number.NEGATIVE_INFINITY,
  checkedMs: null,
}

const unwatched = (name: string): Watched => ({ ...unprobed, name, dueMs: Number.NEGATIVE_INFINITY, probing: false })

interface OpenProbe {
  hosts: Hosts
  client: DatabaseClient
  clock: Clock
  telemetry: Telemetry
  /** Told of every probe. */
  silence: Silence
  random?: () => number
}

/** Asks every host one small statement every few seconds, never two at once of the same host. */
export const openProbe = ({ hosts, client, clock, telemetry, silence, random = Math.random }: OpenProbe): Probe => {
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
        tellChange(log, host, before, entry)
        silence.tell(host, isSilent(entry.state))
        if (watched.get(host.key) === entry) up.set({ host: host.name }, entry.state.status === 'up' ? 1 : 0)
      })
      .catch((error: unknown) => log.error({ err: error, host: host.name }, 'probe failed'))
      .finally(() => {
        entry.probing = false
        // From the answer on: what is learned after it does not make the state older.
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
      if (!entry.probing && entry.dueMs <= clock.elapsedMs() && running.size < maxAtOnce) start(host, entry)
    }
  }
  tick()
  const timer = setInterval(tick, tickMs).unref()

  const known = (key: string): Known => watched.get(key) ?? unprobed
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

/** Recomputed from the monotonic clock, so that it is right at once when our wall clock is set. */
const skewOf = ({ aheadMs }: Known, clock: Clock): number =>
  aheadMs === null ? 0 : Math.round(aheadMs + clock.elapsedMs() - clock.now())

/** Nothing came back; one that refuses or talks nonsense is there. */
const isSilent = ({ reason }: State): boolean => reason === 'timeout' || reason === 'unreachable'

/** Forgets hosts that are no longer listed, and tells their names. */
const dropUnlisted = (watched: Map<string, Watched>, list: readonly MonitoredHost[]): string[] => {
  const listed = new Set(list.map(({ key }) => key))
  const dropped = [...watched].filter(([key]) => !listed.has(key))
  for (const [key] of dropped) watched.delete(key)
  return dropped.map(([, { name }]) => name)
}

/** A host that goes down, comes back or fails for another reason is told once, not at every probe; so is a first failure. */
const tellChange = (log: Telemetry['log'], { name }: MonitoredHost, before: State, { state }: Known): void => {
  const { status, reason, failure } = state
  if (status === before.status && reason === before.reason) return
  if (status === 'down') log.warn({ host: name, reason, failure }, 'host is down')
  else if (before.status === 'down') log.info({ host: name }, 'host is up again')
}
