import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { startProduct, type Topology } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import { type Benchmark, type Comparison, percentile } from './benchmark.ts'
import { load, send, type Target } from './load.ts'
import { processorMs } from './processor-time.ts'
import { startReplayHost } from './start-replay-host.ts'

const repetitions = 5
const warmUpMs = 3_000
const measuredMs = 3_000
/** Time until the product detects a sustained overload. */
const noticedWithinMs = 4_000
const times = 3
const callers = 32
/** Maximum concurrent requests. Above it the sender is too slow, and requests are not sent. */
const maxConnections = 1_000
/** Requests are sent in groups, because timers have this resolution. */
const everyMs = 5
/** The minimum share of requests that must be sent for the overload to count. */
const sentAtLeast = 0.95
const goodputAtLeast = 0.8
const slowdownAtMost = 5

/** The limiting resource: the slots of a host, or CPU. */
interface Limit {
  title: string
  isProcessor: boolean
  hostDelayMs: number
  slots: number
  target: Omit<Target, 'origin'>
}

const limits: readonly Limit[] = [
  {
    title: 'slots of a host allow',
    isProcessor: false,
    hostDelayMs: 100,
    slots: 4,
    target: { method: 'GET', path: '/api/v1/host-status?hostId=0' },
  },
  {
    title: 'processor allows',
    isProcessor: true,
    hostDelayMs: 2,
    slots: 10,
    target: { method: 'GET', path: '/api/v1/tables/settings?hostId=0' },
  },
]

/** Measures throughput and latency at three times the capacity. */
export const overloaded: Benchmark = {
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
  await load(target, callers, warmUpMs, acceptsBusy)
  const rounds: Round[] = []
  for (let repetition = 0; repetition < repetitions; repetition++) rounds.push(await measureRound(target, product.pids))
  const name = `${topology}, three times as much as the ${limit.title}`
  yield {
    name: `${name}, answers`,
    ...(limit.isProcessor
      ? {
          unit: 'answers a second of processor time',
          ...figuresOf(rounds, ({ perProcessorSecond }) => perProcessorSecond),
        }
      : { unit: 'answers/s', ...figuresOf(rounds, ({ perSecond }) => perSecond) }),
    bar: { atLeast: goodputAtLeast },
  }
  yield {
    name: `${name}, p99 of them beside no load`,
    unit: 'ms',
    ours: rounds.map(({ overloaded }) => overloaded.p99Ms),
    reference: rounds.map(({ unloaded }) => unloaded.p99Ms),
    bar: { atMost: slowdownAtMost },
  }
}

interface Figures {
  p99Ms: number
  perSecond: number
  /** Responses per second of CPU time of the product, which is independent of other load. */
  perProcessorSecond: number
}

type Round = Record<'unloaded' | 'full' | 'overloaded', Figures>

const acceptsBusy = { busy: true }

const measureRound = async (target: Target, pids: readonly number[]): Promise<Round> => {
  const unloaded = await timed(pids, () => load(target, 1, measuredMs))
  const full = await timed(pids, () => load(target, callers, measuredMs, acceptsBusy))
  const flood = startFlood(target, full.perSecond * times)
  await pause(noticedWithinMs)
  flood.count()
  const overloaded = await timed(pids, async () => {
    await pause(measuredMs)
    return flood.counted()
  })
  const latencies = await flood.end()
  return { unloaded, full, overloaded: { ...overloaded, p99Ms: percentile(latencies, 0.99) } }
}

const timed = async <F extends { perSecond: number }>(
  pids: readonly number[],
  measured: () => Promise<F>,
): Promise<F & { perProcessorSecond: number }> => {
  const usedMs = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0)
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
  /** Starts counting. */
  count(): void
  /** Returns the responses since the start. Throws if too few requests were sent. */
  counted(): { perSecond: number }
  /**
   * Stops and waits for all responses. Returns the durations, in milliseconds, of the successful requests that were sent while
   * counting. Throws if a request neither succeeded nor was rejected for overload.
   */
  end(): Promise<readonly number[]>
}

/** Sends requests at a fixed rate, independent of the responses. */
const startFlood = (target: Target, perSecond: number): Flood => {
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
      if ((await send(pool, target, acceptsBusy)) !== 200) return
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
      if (share < sentAtLeast) throw new Error(`only ${Math.round(share * 100)} % of the requests could be sent`)
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
