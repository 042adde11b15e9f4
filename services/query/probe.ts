import type { HostState } from '#proto/query.ts'
import type { Clock } from '#shared/clock.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { DatabaseClient } from './clickhouse/client.ts'
import { failureReason } from './clickhouse/failure.ts'
import type { MonitoredHost } from './hosts/host-list.ts'
import type { Hosts } from './hosts/hosts.ts'
import { basicStatement, readBasics } from './status-statement.ts'

const timeoutMs = 2_000
/** With the timeout and the jitter a state is never older than ten seconds. */
const pauseMs = 6_500
const jitterMs = 1_000
/** How often it is looked which hosts are due. */
const tickMs = 250
/** With all hosts of a full list hanging, every one still gets its turn in time. */
const maxAtOnce = 500

/** The last known state of every host. */
export interface Probe extends AsyncDisposable {
  states(): HostState[]
  /** Their clock minus ours; 0 while unknown. */
  skewMs(key: string): number
}

type State = Omit<HostState, 'id' | 'key' | 'name'>

interface Watched {
  state: State
  skewMs: number
  dueMs: number
  probing: boolean
}

const unknownState: State = {
  status: 'unknown',
  reason: null,
  version: null,
  uptimeSeconds: null,
  latencyMs: null,
  checkedAtMs: null,
}

interface OpenProbe {
  hosts: Hosts
  client: DatabaseClient
  clock: Clock
  log: Telemetry['log']
  random?: () => number
}

/** Asks every host one tiny statement every few seconds, never two at once of the same host. */
export const openProbe = ({ hosts, client, clock, log, random = Math.random }: OpenProbe): Probe => {
  const watched = new Map<string, Watched>()
  const stopping = new AbortController()
  const running = new Set<Promise<void>>()

  const start = (host: MonitoredHost, entry: Watched): void => {
    entry.probing = true
    const before = entry.state
    const probing: Promise<void> = probeOnce(client, host, entry, clock, stopping.signal)
      .then(() => tellChange(log, host, before, entry.state))
      .catch((error: unknown) => log.error({ err: error, host: host.name }, 'probe failed'))
      .finally(() => {
        entry.probing = false
        entry.dueMs = clock.now() + pauseMs - random() * jitterMs
        running.delete(probing)
      })
    running.add(probing)
  }

  const tick = (): void => {
    const list = hosts.list()
    const listed = new Set(list.map((host) => host.key))
    for (const key of watched.keys()) if (!listed.has(key)) watched.delete(key)
    for (const host of list) {
      const entry = watched.get(host.key) ?? { state: unknownState, skewMs: 0, dueMs: 0, probing: false }
      watched.set(host.key, entry)
      if (!entry.probing && entry.dueMs <= clock.now() && running.size < maxAtOnce) start(host, entry)
    }
  }
  tick()
  const timer = setInterval(tick, tickMs)
  timer.unref()

  return {
    states: () =>
      hosts.list().map(({ id, key, name }) => ({ id, key, name, ...(watched.get(key)?.state ?? unknownState) })),
    skewMs: (key) => watched.get(key)?.skewMs ?? 0,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** A host that goes down, comes back or fails for another reason is told once, not at every probe; so is a first failure. */
const tellChange = (log: Telemetry['log'], { name }: MonitoredHost, before: State, { status, reason }: State): void => {
  if (status === before.status && reason === before.reason) return
  if (status === 'down') log.warn({ host: name, reason }, 'host is down')
  else if (before.status === 'down') log.info({ host: name }, 'host is up again')
}

const probeOnce = async (
  client: DatabaseClient,
  host: MonitoredHost,
  entry: Watched,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => {
  const startedMs = clock.now()
  const asking = { signal, deadline: startedMs + timeoutMs, priority: 'sweep' } as const
  try {
    const { rows } = await client.probe(host, basicStatement('probe'), asking, timeoutMs)
    const checkedAtMs = clock.now()
    const basics = readBasics(host, rows)
    const latencyMs = checkedAtMs - startedMs
    entry.skewMs = Math.round(basics.nowMs - (checkedAtMs - latencyMs / 2))
    const { version, uptimeSeconds } = basics
    entry.state = { status: 'up', reason: null, version, uptimeSeconds, latencyMs, checkedAtMs }
  } catch (error) {
    if (signal.aborted) return
    entry.state = { ...unknownState, status: 'down', reason: reasonOf(error), checkedAtMs: clock.now() }
  }
}

/** A host that answers the probe with an exception of its own is taken for one that does not speak ClickHouse properly. */
const reasonOf = (error: unknown): HostState['reason'] => failureReason(error) ?? 'garbage'
