import type { Histogram } from 'prom-client'
import type { Call } from '#proto/call.ts'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { isBackground } from '#shared/admission/queue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry, Tracer } from '#shared/telemetry/telemetry.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'
import { parseAnswer, type Rows } from './answer.ts'
import { openConnections, type Connections } from './connections.ts'
import { costing, readSummary } from './cost.ts'
import { type Exchange, wholeExchange, exchange, type WholeExchange } from './exchange.ts'
import { hostFailure, silentHost, clickhouseCode, failureReason, silentKeeper } from './failure.ts'
import type { HostBody } from './host-body.ts'
import { openKiller, sweepIdlePools, type Killer } from './housekeeping.ts'
import { type Limits, readLimits, type PoolSettings } from './limits.ts'
import { openSilence, type Silence } from './silence.ts'
import { type Statement, type StreamFormat, secondsFor, type Sending } from './statement.ts'
import { TimeLimit } from './time-limit.ts'
import { openTurns, type Turns } from './turns.ts'

/** What a statement is sent with: the circumstances, and the `readonly` setting of the user's profile. */
interface Sent {
  host: MonitoredHost
  statement: Statement
  asking: Asking
  readonly: number
}

/** A whole answer, what it cost, and its length in characters. */
export interface WholeAnswer extends Rows {
  queryId: string
  durationMs: number
  size: number
}

/** Carries statements to hosts, each in its turn and within its time. */
export interface Transport extends AsyncDisposable {
  whole(sent: Sent): Promise<WholeAnswer>
  /** Leaving `body` early ends the statement on the host. */
  stream(sent: Sent, format: StreamFormat): Promise<Exchange>
  /** Over the connection kept beside the pool, without a turn or a figure of its own. */
  reserved(sent: Sent, limitMs: number): Promise<Rows>
  /** Closes what is open to a host. */
  release(host: MonitoredHost): void
}

export interface Place {
  env: Environment
  telemetry: Telemetry
  clock: Clock
  /** What the probe tells of; without a probe every host counts as answering. */
  silence?: Silence
  /** How busy this process is; without it background work never pauses. */
  pressure?: LoopPressure
}

export const openTransport = ({ env, telemetry, clock, silence = openSilence(), pressure }: Place): Transport => {
  const connections = openConnections()
  const killer = openKiller(connections, telemetry.log)
  const sweeping = sweepIdlePools(connections, () => readLimits(env))
  const turns = openTurns(telemetry, pressure)
  const count = costing(telemetry)
  const duration = metrics.statementDuration(telemetry.metrics)
  const place = { tracer: telemetry.tracer, duration, clock, connections, silence, turns, killer }

  const enter = (sent: Sent): Promise<Visit> => openVisit(place, entering(sent, readLimits(env)))

  return {
    async whole(sent) {
      const answer = await readAnswer(sent, await enter(sent))
      count(sent.host, answer)
      return answer
    },
    async stream(sent, format) {
      const visit = await enter(sent)
      try {
        const answer = await visit.ask(format)
        count(sent.host, readSummary(answer.headers))
        return { ...answer, body: endingWith(visit, answer.body) }
      } catch (error) {
        visit.end(error)
        throw error
      }
    },
    async reserved(sent, limitMs) {
      const { host, statement, asking } = sent
      using limit = new TimeLimit({ outer: asking.signal, limitMs, late: () => hostFailure(host, 'timeout') })
      using wait = silence.wait(host, () => limit.end(silentHost(host)))
      const limits = readLimits(env)
      const terms = {
        ...sendingOf(sent, limits),
        format: 'JSONCompact',
        limit,
        pool: limits.pool,
        heard: wait.heard,
        reserved: true,
      } as const
      const { text } = await wholeExchange(connections, host, statement, terms, () => undefined)
      return parseAnswer(host, text)
    },
    release: connections.release,
    async [Symbol.asyncDispose]() {
      sweeping[Symbol.dispose]()
      await killer[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

const entering = (sent: Sent, limits: Limits) => ({ ...sent, sending: sendingOf(sent, limits), pool: limits.pool })

const sendingOf = ({ asking, readonly }: Sent, { maxExecutionSeconds }: Limits) => ({
  readonly,
  maxExecutionSeconds,
  background: isBackground(asking.priority),
})

const readAnswer = async ({ host, statement }: Sent, visit: Visit): Promise<WholeAnswer> => {
  const started = performance.now()
  try {
    const { queryId, text } = await visit.askWhole()
    const durationMs = performance.now() - started
    // What changes a host mostly has nothing to tell.
    const rows = statement.writes && text === '' ? noRows : parseAnswer(host, text)
    visit.end()
    return { ...rows, queryId, durationMs, size: text.length }
  } catch (error) {
    visit.end(error)
    throw error
  }
}

const noRows: Rows = { columns: [], rows: [], rowsRead: 0, bytesRead: 0 }

const endingWith = (visit: Visit, { take, leave }: HostBody): HostBody => {
  let isOpen = true
  const end = (error?: unknown): void => {
    isOpen = false
    visit.end(error)
  }
  return {
    async take(left) {
      try {
        const piece = await take(left)
        if (!piece) end()
        return piece
      } catch (error) {
        end(error)
        throw error
      }
    },
    leave() {
      leave()
      if (isOpen) end(new DOMException('the reader left', 'AbortError'))
    },
  }
}

/** What a statement needs of the call it serves. */
export type Asking = Pick<Call, 'signal' | 'deadline' | 'priority' | 'trace'>

/** Beyond the host's own limit, time for connecting and for the way. */
const graceMs = 2_000
/** An error that names the host has to be on its way before the caller stops listening. */
const answerMarginMs = 100

/** One statement's stay at a host, from its turn to its last byte. */
interface Visit {
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
interface VisitDeps {
  tracer: Tracer
  duration: Histogram<'host' | 'outcome'>
  clock: Clock
  connections: Connections
  silence: Silence
  turns: Turns
  killer: Killer
}

/** Waits for a turn on the host. */
const openVisit = async (place: VisitDeps, entering: Entering): Promise<Visit> => {
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
