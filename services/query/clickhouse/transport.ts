import type { Histogram } from 'prom-client'
import type { CallContext } from '#proto/call.ts'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import type { LoopPressure } from '#shared/admission/loop-pressure.ts'
import { isBackground } from '#shared/admission/queue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry, Tracer } from '#shared/telemetry/telemetry.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type MonitoredHost, toTelemetryName } from '../hosts/host-list.ts'
import { parseResponse, type ResultRows } from './response.ts'
import { type HostConnections, openHostConnections } from './connections.ts'
import { createCostCounter, parseSummaryHeader } from './cost.ts'
import {
  type BufferedStatementResponse,
  sendBufferedStatement,
  type StatementResponse,
  sendStatement,
} from './send-statement.ts'
import {
  findClickhouseErrorCode,
  findFailureReason,
  createHostError,
  createKeeperTimeoutError,
  createUnresponsiveHostError,
} from './failure.ts'
import type { HostBody } from './host-body.ts'
import { type HostQueues, openHostQueues } from './host-queues.ts'
import { type QueryKiller, openQueryKiller, startIdlePoolCleanup } from './housekeeping.ts'
import { type HostClientLimits, type PoolSettings, readHostClientLimits } from './limits.ts'
import { endStatementSpan, startStatementSpan } from './statement-span.ts'
import { TimeLimit } from './time-limit.ts'
import { type LivenessTracker, openLivenessTracker } from './liveness.ts'
import { type SendingOptions, resolveMaxSeconds, type Statement, type StreamFormat } from './statement.ts'

/** A statement with its context and the `readonly` setting of the user's profile. */
interface StatementRequest {
  host: MonitoredHost
  statement: Statement
  context: QueryContext
  readonly: number
}

/** The result of a buffered response, with its cost and the number of characters of its text. */
export interface BufferedResult extends ResultRows {
  queryId: string
  durationMs: number
  size: number
}

/** Sends statements to hosts through the host queues and within their time limits. */
export interface Transport extends AsyncDisposable {
  whole(request: StatementRequest): Promise<BufferedResult>
  /** Runs a statement and streams its response. Calling `body.leave()` early kills the statement on the host. */
  stream(request: StatementRequest, format: StreamFormat): Promise<StatementResponse>
  /** Uses the reserved connection, without queue and metrics. */
  reserved(request: StatementRequest, limitMs: number): Promise<ResultRows>
  /** Closes all connections to a host. */
  release(host: MonitoredHost): void
}

export interface TransportDeps {
  env: Environment
  telemetry: Telemetry
  clock: Clock
  /** Tracks the liveness of the hosts. If absent, every host counts as responsive. */
  liveness?: LivenessTracker
  /** Measures the load of this process. If absent, background statements never pause. */
  pressure?: LoopPressure
}

export const openTransport = (transportDeps: TransportDeps): Transport => {
  const { env, telemetry, clock, liveness = openLivenessTracker(), pressure } = transportDeps
  const connections = openHostConnections()
  const killer = openQueryKiller(connections, telemetry.log)
  const idleSweep = startIdlePoolCleanup(connections, () => readHostClientLimits(env))
  const queues = openHostQueues(telemetry, pressure)
  const count = createCostCounter(telemetry)
  const duration = metrics.statementDuration(telemetry.metrics)
  const deps = { tracer: telemetry.tracer, duration, clock, connections, liveness, queues, killer }

  const start = (request: StatementRequest): Promise<Execution> =>
    startExecution(deps, withLimits(request, readHostClientLimits(env)))

  return {
    async whole(request) {
      const result = await readResult(request, await start(request))
      count(request.host, result)
      return result
    },
    async stream(request, format) {
      const execution = await start(request)
      try {
        const response = await execution.stream(format)
        count(request.host, parseSummaryHeader(response.headers))
        return { ...response, body: endWithBody(execution, response.body) }
      } catch (error) {
        execution.end(error)
        throw error
      }
    },
    async reserved(request, limitMs) {
      const { host, statement, context } = request
      using limit = new TimeLimit({ outer: context.signal, limitMs, late: () => createHostError(host, 'timeout') })
      using watch = liveness.watch(host, () => limit.end(createUnresponsiveHostError(host)))
      const limits = readHostClientLimits(env)
      const { pool } = limits
      const sending = { ...sendingOf(request, limits), format: 'JSONCompact', reserved: true } as const
      const options = { ...sending, limit, pool, onActivity: watch.refresh }
      const { text } = await sendBufferedStatement(connections, host, statement, options, () => undefined)
      return parseResponse(host, text)
    },
    release: connections.release,
    async [Symbol.asyncDispose]() {
      idleSweep[Symbol.dispose]()
      await killer[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

const withLimits = (request: StatementRequest, limits: HostClientLimits): LimitedRequest => ({
  ...request,
  sending: sendingOf(request, limits),
  pool: limits.pool,
  maxWaitMs: request.context.priority === 'tool' ? limits.toolWaitMs : undefined,
})

const sendingOf = ({ context, readonly }: StatementRequest, { maxExecutionSeconds }: HostClientLimits) => ({
  readonly,
  maxExecutionSeconds,
  background: isBackground(context.priority),
})

const readResult = async ({ host, statement }: StatementRequest, execution: Execution): Promise<BufferedResult> => {
  const started = performance.now()
  try {
    const { queryId, text } = await execution.buffer()
    const durationMs = performance.now() - started
    // Statements that write mostly have an empty response.
    const rows = statement.writes && text === '' ? noRows : parseResponse(host, text)
    execution.end()
    return { ...rows, queryId, durationMs, size: text.length }
  } catch (error) {
    execution.end(error)
    throw error
  }
}

const noRows: ResultRows = { columns: [], rows: [], rowsRead: 0, bytesRead: 0 }

/** Returns a body whose end also ends the execution. */
const endWithBody = (execution: Execution, { take, leave }: HostBody): HostBody => {
  let isOpen = true
  const end = (error?: unknown): void => {
    isOpen = false
    execution.end(error)
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

/** The parts of a call that its statements need. */
export type QueryContext = Pick<CallContext, 'signal' | 'deadline' | 'priority' | 'trace'> &
  Partial<Pick<CallContext, 'identity'>>

/** Time for the connection and the network, beyond the time limit of the host. */
const graceMs = 2_000
/** An error that names the host must be sent before the caller times out. */
const responseMarginMs = 100

/** The execution of one statement on a host, from its slot to its last byte. */
interface Execution {
  stream(format: StreamFormat): Promise<StatementResponse>
  buffer(): Promise<BufferedStatementResponse>
  /** Releases the slot. After an error, also kills the statement if it may still run. Later calls do nothing. */
  end(error?: unknown): void
}

interface LimitedRequest {
  host: MonitoredHost
  statement: Statement
  context: QueryContext
  sending: Omit<SendingOptions, 'format'>
  pool: PoolSettings
  /** How long the statement waits for a slot; undefined for the default. */
  maxWaitMs: number | undefined
}

interface ExecutionDeps {
  tracer: Tracer
  duration: Histogram<'host' | 'outcome'>
  clock: Clock
  connections: HostConnections
  liveness: LivenessTracker
  queues: HostQueues
  killer: QueryKiller
}

/** Waits for a slot of the host. */
const startExecution = async (deps: ExecutionDeps, request: LimitedRequest): Promise<Execution> => {
  const { host, statement, context, sending, pool, maxWaitMs } = request
  const { tracer, duration, clock, connections, liveness, queues, killer } = deps
  const seconds = resolveMaxSeconds(statement, sending)
  const ownLimitMs = seconds * 1_000 + graceMs
  const remainingMs = (): number => computeRemainingCallMs(context, clock.elapsedMs())
  const limitMs = Math.min(ownLimitMs + (maxWaitMs ?? 0), remainingMs())
  // A timeout at an earlier deadline of the caller does not indicate a Keeper problem.
  const waitsForKeeper = statement.readsKeeper === true && remainingMs() >= ownLimitMs
  const late = () => (waitsForKeeper ? createKeeperTimeoutError(host) : createHostError(host, 'timeout'))
  const limit = new TimeLimit({ outer: context.signal, limitMs, late })
  const watch = liveness.watch(host, () => limit.end(createUnresponsiveHostError(host)))
  const started = performance.now()
  const span = startStatementSpan(tracer, { host, statement, trace: context.trace })
  let queryId: string | undefined
  let hasEnded = false
  let releaseSlot = (): void => undefined

  const end = (error?: unknown): void => {
    if (hasEnded) return
    hasEnded = true
    limit[Symbol.dispose]()
    watch[Symbol.dispose]()
    releaseSlot()
    if (queryId !== undefined && mayStillRun(error)) killer.kill(host, queryId, sending.readonly, pool)
    const took = (performance.now() - started) / 1_000
    duration.observe({ host: toTelemetryName(host), outcome: outcomeOf(error) }, took)
    endStatementSpan(span, error)
  }

  try {
    const { priority, identity } = context
    const caller = identity && `${identity.kind} ${identity.subject}`
    const slot = { priority, size: pool.size, signal: limit.signal, timeoutMs: limitMs, maxWaitMs, caller }
    releaseSlot = await queues.enter(host, slot)
    // The time in the queue of a tool does not shorten the time of its statement.
    if (maxWaitMs !== undefined) limit.restart(Math.min(ownLimitMs, remainingMs()))
  } catch (error) {
    end(error)
    throw error
  }
  const options = { ...sending, trace: span.trace, limit, pool, onActivity: watch.refresh }
  const onSent = (id: string): void => void (queryId = id)
  return {
    end,
    stream(format) {
      // The signal must end a stream that is not being read.
      limit.signal.addEventListener('abort', () => end(limit.signal.reason), { once: true })
      return sendStatement(connections, host, statement, { ...options, format }, onSent)
    },
    buffer: () => sendBufferedStatement(connections, host, statement, { ...options, format: 'JSONCompact' }, onSent),
  }
}

/** Returns the time until the caller stops waiting, in milliseconds, without the margin for the response. */
export const computeRemainingCallMs = (context: QueryContext, nowMs: number): number =>
  context.deadline - nowMs - responseMarginMs

/** Returns whether the statement may still run: not after success, an exception, or a failure before its start. */
const mayStillRun = (error: unknown): boolean => {
  if (error === undefined || findClickhouseErrorCode(error) !== undefined) return false
  const reason = findFailureReason(error)
  return reason === undefined || reason === 'timeout'
}

const outcomeOf = (error: unknown): string => {
  if (error === undefined) return 'ok'
  if (error instanceof ServiceError && isErrorCode(error.code)) return error.code
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : 'internal'
}
