import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { startProduct, type Topology } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import { type Benchmark, type Comparison, calculateQuantile } from './benchmark.ts'
import { runLoad, sendLoadRequest, type LoadTarget } from './load.ts'
import { readCpuMs } from './cpu-time.ts'
import { startReplayHost } from './start-replay-host.ts'

const repetitions = 5
const warmUpMs = 3_000
const measuredMs = 3_000
/** Time within which the product detects a sustained overload, in milliseconds. */
const noticedWithinMs = 4_000
const times = 3
const callers = 32
/** Maximum number of concurrent requests. At this limit, requests that are due are not sent. */
const maxConnections = 1_000
/** Interval between groups of requests, in milliseconds. Timers are too coarse to send each request at its own time. */
const everyMs = 5
/** Minimum share of the due requests that the sender must manage to send. Otherwise the overload is not valid. */
const minSentShare = 0.95
const minGoodput = 0.8
const maxSlowdown = 5

/** The resource that limits the throughput: the query slots of a host, or the CPU. */
interface Limit {
  title: string
  isProcessor: boolean
  hostDelayMs: number
  slots: number
  target: Omit<LoadTarget, 'origin'>
}

const limits: readonly Limit[] = [
  {
    title: 'host slots',
    isProcessor: false,
    hostDelayMs: 100,
    slots: 4,
    target: { method: 'GET', path: '/api/v1/host-status?hostId=0' },
  },
  {
    title: 'CPU',
    isProcessor: true,
    hostDelayMs: 2,
    slots: 10,
    target: { method: 'GET', path: '/api/v1/tables/settings?hostId=0' },
  },
]

/** Measures goodput and latency at three times the capacity. */
export const overloadGoodput: Benchmark = {
  name: 'overload',
  async *run() {
    await using sandbox = await startSandbox({ seed: false })
    for (const topology of ['memory', 'nats'] as const) {
      for (const limit of limits) yield* measure(sandbox.url, topology, limit)
    }
  },
}

async function* measure(upstream: string, topology: Topology, limit: Limit): AsyncGenerator<Comparison> {
  await using host = await startReplayHost(upstream, limit.hostDelayMs)
  await using product = await startProduct({
    topology,
    hosts: [{ url: host.url, name: 'replay' }],
    env: {
      SVC_QUERY_CACHE: 'off',
      LOG_LEVEL: 'warn',
      COLUMNDB_POOL_SIZE: String(limit.slots),
      RATE_LIMIT_API_PER_MIN: '100000000',
    },
  })
  const target = { ...limit.target, origin: product.url }
  await runLoad(target, callers, warmUpMs, acceptsBusy)
  const rounds: Round[] = []
  for (let repetition = 0; repetition < repetitions; repetition++) rounds.push(await measureRound(target, product.pids))
  const name = `${topology}, three times the capacity of the ${limit.title}`
  yield {
    name: `${name}, goodput`,
    ...(limit.isProcessor
      ? {
          unit: 'responses per second of CPU time',
          ...figuresOf(rounds, ({ perProcessorSecond }) => perProcessorSecond),
        }
      : { unit: 'responses/s', ...figuresOf(rounds, ({ perSecond }) => perSecond) }),
    bar: { atLeast: minGoodput },
  }
  yield {
    name: `${name}, p99 relative to no load`,
    unit: 'ms',
    ours: rounds.map(({ overloaded }) => overloaded.p99Ms),
    reference: rounds.map(({ unloaded }) => unloaded.p99Ms),
    bar: { atMost: maxSlowdown },
  }
}

interface Figures {
  p99Ms: number
  perSecond: number
  /**
   * Responses per second of CPU time of the product. Unlike wall-clock time, CPU time does not depend on other load.
   */
  perProcessorSecond: number
}

type Round = Record<'unloaded' | 'full' | 'overloaded', Figures>

const acceptsBusy = { busy: true }

const measureRound = async (target: LoadTarget, pids: readonly number[]): Promise<Round> => {
  const unloaded = await timed(pids, () => runLoad(target, 1, measuredMs))
  const full = await timed(pids, () => runLoad(target, callers, measuredMs, acceptsBusy))
  const flood = startFlood(target, full.perSecond * times)
  await pause(noticedWithinMs)
  flood.count()
  const overloaded = await timed(pids, async () => {
    await pause(measuredMs)
    return flood.counted()
  })
  const latencies = await flood.end()
  return { unloaded, full, overloaded: { ...overloaded, p99Ms: calculateQuantile(latencies, 0.99) } }
}

const timed = async <F extends { perSecond: number }>(
  pids: readonly number[],
  measured: () => Promise<F>,
): Promise<F & { perProcessorSecond: number }> => {
  const usedMs = () => pids.reduce((sum, pid) => sum + readCpuMs(pid), 0)
  const [before, began] = [usedMs(), performance.now()]
  const figures = await measured()
  const processors = (usedMs() - before) / (performance.now() - began)
  return { ...figures, perProcessorSecond: figures.perSecond / processors }
}

const figuresOf = (rounds: readonly Round[], figure: (figures: Figures) => number) => ({
  ours: rounds.map(({ overloaded }) => figure(overloaded)),
  reference: rounds.map(({ full }) => figure(full)),
})

interface Flood {
  /** Starts to count responses. */
  count(): void
  /** Returns the rate of successful responses since `count`. Throws if too few requests were sent. */
  counted(): { perSecond: number }
  /**
   * Stops sending and waits for all responses. Returns the durations, in milliseconds, of the successful requests sent
   * since `count`. Throws if a request failed for another reason than overload.
   */
  end(): Promise<readonly number[]>
}

/** Sends requests at a fixed rate, independent of the responses. */
const startFlood = (target: LoadTarget, perSecond: number): Flood => {
  const pool = new Pool(target.origin, { connections: maxConnections, pipelining: 1, connectTimeout: 60_000 })
  const latencies: number[] = []
  const failures: string[] = []
  const underway = new Set<Promise<void>>()
  let countedFrom = Infinity
  let [sent, answered] = [0, 0]
  const one = async (): Promise<void> => {
    const before = performance.now()
    const isCounted = before >= countedFrom
    if (isCounted) sent++
    try {
      if ((await sendLoadRequest(pool, target, acceptsBusy)) !== 200) return
      const now = performance.now()
      if (now >= countedFrom) answered++
      if (isCounted) latencies.push(now - before)
    } catch (error) {
      failures.push(String(error))
    }
  }
  const began = performance.now()
  let due = 0
  const timer = setInterval(() => {
    for (const by = ((performance.now() - began) / 1_000) * perSecond; due < by; due++) {
      if (underway.size >= maxConnections) continue
      const request = one()
      underway.add(request)
      void request.finally(() => underway.delete(request))
    }
  }, everyMs)
  return {
    count: () => void (countedFrom = performance.now()),
    counted: () => {
      const seconds = (performance.now() - countedFrom) / 1_000
      const share = sent / seconds / perSecond
      if (share < minSentShare)
        throw new Error(`invalid measurement: the sender sent only ${Math.round(share * 100)} % of the requests`)
      return { perSecond: answered / seconds }
    },
    async end() {
      clearInterval(timer)
      await Promise.all(underway)
      await pool.close()
      if (failures.length > 0) throw new Error(`requests failed: ${failures.slice(0, 3).join('; ')}`)
      return latencies
    },
  }
}
