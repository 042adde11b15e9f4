import type { ServerResponse } from 'node:http'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import type { Clock } from '#shared/time/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { webhookRig } from '../../alert-dispatcher/channels/testing/webhook.ts'
import { FleetRecord, emptyFleetRecord, fleetRecordKey } from '../../alert-dispatcher/conditions/fleet-record.ts'
import { startWithTickInterval as startDispatcher } from '../../alert-dispatcher/service.ts'
import { start as startGateway } from '../../gateway/service.ts'
import { start as startQuery } from '../../query/service.ts'
import { sendResultRows, startHttpStub } from '../../query/testing/stub-host.ts'
import { parseExposition, findSampleValue } from '../../testing/exposition-format.ts'

/** The services that monitor a host, in this process, with a wall clock that the test sets. */
export interface ClockJumpProduct extends AsyncDisposable {
  /** Sets the wall clock forwards or back. The monotonic clock is not affected. */
  jump(ms: number): void
  /** Advances both clocks, as if this time had passed. */
  pass(ms: number): void
  host: { isUp: boolean }
  /** Returns the host status that the gateway reports: `up`, `down` or `unknown`. */
  status(): Promise<string>
  /** Returns how often the metrics of the host were read, as a metric of the gateway reports it; undefined if it is missing. */
  hostMetricReads(): Promise<number | undefined>
  /** Returns the number of finished sweeps. */
  sweeps(): Promise<number>
  /**
   * Returns the headlines of all messages about reachability. Other messages, which the stub host causes, are ignored.
   */
  messages(): string[]
}

const names = ['query', 'alert-dispatcher', 'gateway'] as const
const tickEveryMs = 25

/**
 * Starts the product. `measure` returns the monotonic time. A test passes the wall clock instead, to show that the
 * other tests detect durations measured with it.
 */
export const startClockJumpProduct = async (measure: Measure = (elapsedMs) => elapsedMs): Promise<ClockJumpProduct> => {
  await using opening = new AsyncDisposableStack()
  const time = createClocks(measure)
  const seen = { isUp: true, figures: 0 }
  const tables = ['metrics', 'asynchronous_metrics']
  const stub = opening.use(
    await startHttpStub((request, response) => answer(request.sql, response, seen, time.wallMs()), { tables }),
  )
  const chat = opening.use(await webhookRig.start())
  const env = environmentOf(stub.url, chat.url)
  const facts = { instance: 'test', version: '1.2.3', services: names, secretNames: [] }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: () => {} }))
  const store = opening.use(await openStore({ env, busIsShared: false }))
  const net = opening.use(openNet({ env }))
  const hub = openMemoryHub()
  const openQueue = openMemoryQueues()
  const context = async (caller: (typeof names)[number]) => {
    const own = telemetry.of(caller)
    const bus = opening.use(await openBus({ hub, caller, ...facts, telemetry: own, clock: time.clocks.clock }))
    const parts = { env, bus, store, net, telemetry: own, ...time.clocks, readiness: openReadiness() }
    return { ...parts, openQueue: () => openQueue(own.log) }
  }
  opening.use(await startQuery(await context('query')))
  opening.use(await startDispatcher(await context('alert-dispatcher'), tickEveryMs))
  const gateway = opening.use(await startGateway(await context('gateway')))
  const running = opening.move()
  const get = async (path: string) => (await fetch(`${gateway.url}${path}`)).text()
  return {
    jump: time.jump,
    pass: time.pass,
    host: seen,
    status: async () => String(JSON.parse(await get('/api/healthz')).hosts[0].status),
    hostMetricReads: async () =>
      findSampleValue(parseExposition(await get('/api/v1/metrics')), 'clickhouse_reads', { host: '0' }),
    async sweeps() {
      const { sweeps, isSweeping } = (await store.get(fleetRecordKey, FleetRecord)) ?? emptyFleetRecord
      return sweeps - Number(isSweeping)
    },
    messages: () => chat.taken.flatMap(({ text }) => headlineOf(text)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

type Measure = (elapsedMs: number, wallMs: number) => number

/** Creates clocks that run in real time. `pass` advances all clocks, and `jump` sets only the wall clock. */
const createClocks = (measure: Measure) => {
  let [passedMs, jumpedMs] = [0, 0]
  const clockOf = (elapsedMs: () => number): Clock => {
    const wallMs = () => Math.round(performance.timeOrigin + elapsedMs() + jumpedMs)
    return { now: wallMs, elapsedMs: () => measure(elapsedMs(), wallMs()) }
  }
  const clock = clockOf(() => performance.now() + passedMs)
  return {
    // Rate limits of sends use real time, because the queue waits in real time.
    clocks: { clock, rateLimitClock: clockOf(() => performance.now()) },
    wallMs: () => clock.now(),
    jump: (ms: number) => void (jumpedMs += ms),
    pass: (ms: number) => void (passedMs += ms),
  }
}

const environmentOf = (host: string, chat: string) => ({
  PORT: '0',
  HOST: '127.0.0.1',
  COLUMNDB_HOST: host,
  COLUMNDB_NAME: 'first',
  SVC_HEALTH_SWEEP_ENABLED: 'true',
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '5',
  HEALTH_ALERT_ENABLED: 'true',
  HEALTH_ALERT_COOLDOWN_MINUTES: '60',
  RATE_LIMIT_API_PER_MIN: '1000000',
  // A failed sweep is a warning. With this minimum severity, the target does not receive it.
  [webhookRig.minSeverityVariable]: 'critical',
  ...webhookRig.env(chat),
})

const headlineOf = (text: string): string[] => {
  const headline = String(JSON.parse(text).text).replace(/ \(\d+\)$/, '')
  return headline.includes('Host unreachable') ? [headline] : []
}

/** Responds like a host without the tables that rules read. Counts how often its metrics are read. */
const answer = (
  sql: string,
  response: ServerResponse,
  seen: { isUp: boolean; figures: number },
  nowMs: number,
): void => {
  if (!seen.isUp) return void response.destroy()
  if (sql.includes(' AS meaning'))
    return sendResultRows(response, [['reads', String(++seen.figures), 'Reads of the figures']])
  sendResultRows(response, [['25.8.1', 7_000, 'first', 'UTC', String(Math.round(nowMs)), ...Array(10).fill(null)]])
}
