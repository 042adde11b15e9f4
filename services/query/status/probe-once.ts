import { ServiceError } from '#proto/errors.ts'
import type { HostLoad, HostState } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { clickhouseCode, failureReason } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { basicStatement, figuresStatement, loadFigures, readBasics, readFigures } from './status-statement.ts'

const timeoutMs = 2_000
/** Of a host whose load was late; with it a state is still no older than ten seconds. */
const secondTimeoutMs = 1_000
/** Not asked for its load again meanwhile: what was late may still run there. */
const loadRestMs = 60_000

/** What a probe finds. */
export type State = Omit<HostState, 'id' | 'key' | 'name' | 'clockSkewMs'>

/** What is remembered of a host from probe to probe. */
export interface Known {
  state: State
  /** Null when it was not found up, or cannot tell. */
  load: HostLoad | null
  /** How it calls itself; kept while it is down. */
  hostname: string | null
  /** Their wall clock minus our monotonic one, which nobody sets; null before the first answer. */
  aheadMs: number | null
  /** With these the load could not be read, so only the state is asked for until others are learned. */
  loadless: Capabilities | undefined
  /** Until then only the state is asked for, since the load was late. */
  loadRestsUntilMs: number
  /** When `state` was found out, by the monotonic clock; null before the first probe has ended. */
  checkedMs: number | null
}

export const unknownState: State = {
  status: 'unknown',
  reason: null,
  failure: null,
  version: null,
  uptimeSeconds: null,
  latencyMs: null,
  checkedAtMs: null,
}

interface Place {
  client: DatabaseClient
  clock: Clock
}

/** Asks for state and load in one statement; what the host can tell is learned on first contact, and then it is asked again. */
export const probeOnce = async (
  place: Place,
  host: MonitoredHost,
  known: Known,
  signal: AbortSignal,
): Promise<void> => {
  const { client, clock } = place
  const isFirst = client.known(host) === undefined
  try {
    await look(place, host, known, signal)
    const learned = await client.capabilities(host, asking(clock, signal)).catch(() => undefined)
    if (isFirst && learned) await look(place, host, known, signal)
  } catch (error) {
    if (signal.aborted) return
    const failure = error instanceof ServiceError ? error.message : null
    known.state = { ...unknownState, status: 'down', reason: reasonOf(error), failure, checkedAtMs: clock.now() }
    known.checkedMs = clock.elapsedMs()
    known.load = null
  }
}

const asking = (clock: Clock, signal: AbortSignal, limitMs = timeoutMs) =>
  ({ signal, deadline: clock.elapsedMs() + limitMs, priority: 'sweep' }) as const

const look = async (place: Place, host: MonitoredHost, known: Known, signal: AbortSignal): Promise<void> => {
  const startedMs = place.clock.elapsedMs()
  const { rows, hasLoad } = await ask(place, host, known, signal)
  const [checkedAtMs, checkedMs] = [place.clock.now(), place.clock.elapsedMs()]
  const { version, uptimeSeconds, hostname, nowMs } = readBasics(host, rows)
  const latencyMs = Math.round(checkedMs - startedMs)
  known.aheadMs = nowMs - (checkedMs - latencyMs / 2)
  known.state = { status: 'up', reason: null, failure: null, version, uptimeSeconds, latencyMs, checkedAtMs }
  known.checkedMs = checkedMs
  known.hostname = hostname
  known.load = hasLoad ? readFigures(host, loadFigures, rows) : null
}

const ask = async ({ client, clock }: Place, host: MonitoredHost, known: Known, signal: AbortSignal) => {
  const send = async (statement: Statement, limitMs: number) =>
    (await client.probe(host, statement, asking(clock, signal, limitMs), limitMs)).rows
  const stateAlone = async (limitMs: number) => ({ rows: await send(stateStatement, limitMs), hasLoad: false })

  const capabilities = client.known(host)
  const isResting = clock.elapsedMs() < known.loadRestsUntilMs
  if (!capabilities || capabilities === known.loadless || isResting) return stateAlone(timeoutMs)
  try {
    return { rows: await send(loadStatement(capabilities.tables), timeoutMs), hasLoad: true }
  } catch (error) {
    // A host that waits for its Keeper cannot tell its load, and answers what needs no table.
    const isLate = failureReason(error) === 'timeout'
    if (!isLate && clickhouseCode(error) === undefined) throw error
    const answer = await stateAlone(secondTimeoutMs)
    if (isLate) known.loadRestsUntilMs = clock.elapsedMs() + loadRestMs
    else known.loadless = capabilities
    return answer
  }
}

const stateStatement = basicStatement('probe')

/** A memory of a pure function only: made once for all hosts that have these tables. */
const loadStatements = new WeakMap<ReadonlySet<string>, Statement>()

const loadStatement = (tables: ReadonlySet<string>): Statement => {
  const statement = loadStatements.get(tables) ?? figuresStatement('probe', loadFigures, tables)
  loadStatements.set(tables, statement)
  return statement
}

/** A host that answers the probe with an exception of its own is taken for one that does not speak ClickHouse properly. */
const reasonOf = (error: unknown): HostState['reason'] => failureReason(error) ?? 'garbage'
