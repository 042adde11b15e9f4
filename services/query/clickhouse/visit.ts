import type { Histogram } from 'prom-client'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import type { Tracer } from '#shared/telemetry/telemetry.ts'
import type { Call } from '#proto/call.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'
import type { Connections } from './connections.ts'
import { type Exchange, exchange, type WholeExchange, wholeExchange } from './exchange.ts'
import { clickhouseCode, failureReason, hostFailure, silentHost, silentKeeper } from './failure.ts'
import type { Killer } from './housekeeping.ts'
import type { PoolSettings } from './limits.ts'
import type { Silence } from './silence.ts'
import { secondsFor, type Sending, type Statement, type StreamFormat } from './statement.ts'
import { TimeLimit } from './time-limit.ts'
import type { Turns } from './turns.ts'

/** What a statement needs of the call it serves. */
export type Asking = Pick<Call, 'signal' | 'deadline' | 'priority' | 'trace'>

/** Beyond the host's own limit, time for connecting and for the way. */
const graceMs = 2_000
/** An error that names the host has to be on its way before the caller stops listening. */
const answerMarginMs = 100

/** One statement's stay at a host, from its turn to its last byte. */
export interface Visit {
  ask(format: StreamFormat): Promise<Exchange>
  askWhole(): Promise<WholeExchange>
  /** Gives the turn back; with an error the statement is ended on the host too. Later calls do nothing. */
  end(error?: unknown): void
}

interface Entering {
  host: MonitoredHost
  statement: Statement
  asking: Asking
  sending: Omit<Sending, 'format'>
  pool: PoolSettings
}

/** What all visits share. */
export interface Place {
  tracer: Tracer
  duration: Histogram<'host' | 'outcome'>
  clock: Clock
  connections: Connections
  silence: Silence
  turns: Turns
  killer: Killer
}

/** Waits for a turn on the host. */
export const openVisit = async (place: Place, entering: Entering): Promise<Visit> => {
  const { host, statement, asking, sending, pool } = entering
  const { tracer, duration, clock, connections, silence, turns, killer } = place
  const seconds = secondsFor(statement, sending)
  const ownLimitMs = seconds * 1_000 + graceMs
  const limitMs = Math.min(ownLimitMs, timeLeft(asking, clock.elapsedMs()))
  // A caller who leaves earlier has not waited for Keeper to the end.
  const waitedForKeeper = statement.readsKeeper === true && limitMs === ownLimitMs
  const late = () => (waitedForKeeper ? silentKeeper(host) : hostFailure(host, 'timeout'))
  const limit = new TimeLimit({ outer: asking.signal, limitMs, late })
  const wait = silence.wait(host, () => limit.end(silentHost(host)))
  const started = performance.now()
  const span = tracer.start('statement', 'client', asking.trace, {
    host: telemetryName(host),
    what: statement.what,
  })
  let queryId: string | undefined
  let ended = false
  let leaveTurn = (): void => undefined

  const end = (error?: unknown): void => {
    if (ended) return
    ended = true
    limit[Symbol.dispose]()
    wait[Symbol.dispose]()
    leaveTurn()
    if (queryId !== undefined && stillRunsAfter(error)) killer.kill(host, queryId, sending.readonly, pool)
    const took = (performance.now() - started) / 1_000
    duration.observe({ host: telemetryName(host), outcome: outcomeOf(error) }, took)
    span.end(error)
  }

  try {
    leaveTurn = await turns.enter(host, { ...asking, size: pool.size, signal: limit.signal, patienceMs: limitMs })
  } catch (error) {
    end(error)
    throw error
  }
  const terms = { ...sending, limit, pool, heard: wait.heard }
  const sent = (id: string): void => void (queryId = id)
  return {
    end,
    ask(format) {
      // A stream that nobody has begun to read is ended by its signal alone.
      limit.signal.addEventListener('abort', () => end(limit.signal.reason), { once: true })
      return exchange(connections, host, statement, { ...terms, format }, sent)
    },
    askWhole: () => wholeExchange(connections, host, statement, { ...terms, format: 'JSONCompact' }, sent),
  }
}

/** How long the caller will still listen. */
export const timeLeft = (asking: Asking, nowMs: number): number => asking.deadline - nowMs - answerMarginMs

/** The host has ended the statement itself when it said so, or was never reached. */
const stillRunsAfter = (error: unknown): boolean => {
  if (error === undefined || clickhouseCode(error) !== undefined) return false
  const reason = failureReason(error)
  return reason === undefined || reason === 'timeout'
}

const outcomeOf = (error: unknown): string => {
  if (error === undefined) return 'ok'
  if (error instanceof ServiceError && isErrorCode(error.code)) return error.code
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : 'internal'
}
