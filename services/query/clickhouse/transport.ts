import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { isBackground } from '#shared/admission/queue.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { parseAnswer, type Rows } from './answer.ts'
import { openConnections } from './connections.ts'
import { costing, readSummary } from './cost.ts'
import { type Exchange, wholeExchange } from './exchange.ts'
import { hostFailure, silentHost } from './failure.ts'
import type { HostBody } from './host-body.ts'
import { openKiller, sweepIdlePools } from './housekeeping.ts'
import { type Limits, readLimits } from './limits.ts'
import { openSilence, type Silence } from './silence.ts'
import type { Statement, StreamFormat } from './statement.ts'
import { TimeLimit } from './time-limit.ts'
import { openTurns } from './turns.ts'
import { type Asking, openVisit, type Visit } from './visit.ts'

/** What a statement is sent with: the circumstances, and the `readonly` setting of the user's profile. */
export interface Sent {
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
