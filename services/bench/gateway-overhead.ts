import { startProduct } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { runLoad, type LoadResult, type LoadTarget } from './load.ts'
import { startBareProxy } from './start-bare-server.ts'
import { startReplayHost, type ReplayHost } from './start-replay-host.ts'

const repetitions = 7
const warmUpMs = 1_500
/**
 * Number of warm-up requests. After them, V8 has optimized the code, as in a long-running process. A fixed duration
 * would depend on other load of the machine.
 */
const warmUpRequests = 50_000
const warmUpStepMs = 2_000
const measuredMs = 2_000
const hostDelayMs = 2
const concurrentRequests = 32
const statusPath = '/api/v1/host-status?hostId=0'

interface Bars {
  topology: 'memory' | 'nats'
  aloneAtMost: number
  crowdAtLeast: number
}

const topologies: readonly Bars[] = [
  { topology: 'memory', aloneAtMost: 1.35, crowdAtLeast: 0.55 },
  { topology: 'nats', aloneAtMost: 1.6, crowdAtLeast: 0.35 },
]

/**
 * Measures a statement that passes through gateway, bus and query service. The reference is the same statement sent
 * directly to the host. Caches are off.
 */
export const gatewayOverhead: Benchmark = {
  name: 'gateway-tax',
  async run() {
    await using sandbox = await startSandbox({ seed: false })
    const comparisons: Comparison[] = []
    for (const bars of topologies) {
      await using host = await startReplayHost(sandbox.url, hostDelayMs)
      comparisons.push(...(await measure(host, bars)))
    }
    return comparisons
  },
}

const measure = async (host: ReplayHost, bars: Bars): Promise<Comparison[]> => {
  await using product = await startProduct({
    topology: bars.topology,
    hosts: [{ url: host.url, name: 'replay' }],
    // The pool has as many connections as the direct load opens.
    env: { SVC_QUERY_CACHE: 'off', LOG_LEVEL: 'warn', COLUMNDB_POOL_SIZE: String(concurrentRequests) },
  })
  const through: LoadTarget = { origin: product.url, path: statusPath, method: 'GET' }
  await warmUp(through)
  const direct = await host.busiest()
  await using proxy = await startBareProxy(direct, concurrentRequests)
  const bare: LoadTarget = { origin: proxy.url, path: '/', method: 'GET' }
  await warmUp(bare)

  const targets = { ours: through, reference: direct, bare }
  const alone = await measureInTurn(targets, 1)
  const crowded = await measureInTurn(targets, concurrentRequests)
  return [
    {
      name: `${bars.topology}, one caller, p50`,
      unit: 'ms',
      ...figuresOf(alone, ({ p50Ms }) => p50Ms),
      bar: { atMost: bars.aloneAtMost },
    },
    {
      name: `${bars.topology}, 32 callers, throughput`,
      unit: 'requests/s',
      ...figuresOf(crowded, ({ perSecond }) => perSecond),
      bar: { atLeast: bars.crowdAtLeast },
    },
  ]
}

/** A value for each target: the product, the host itself, and a minimal proxy. */
type Each<T> = Record<'ours' | 'reference' | 'bare', T>

const warmUp = async (target: LoadTarget): Promise<void> => {
  for (let answered = 0; answered < warmUpRequests;) {
    const { perSecond } = await runLoad(target, concurrentRequests, warmUpStepMs)
    answered += (perSecond * warmUpStepMs) / 1000
  }
}

const measureInTurn = async (targets: Each<LoadTarget>, connections: number): Promise<Each<LoadResult[]>> => {
  const results: Each<LoadResult[]> = { ours: [], reference: [], bare: [] }
  const { ours, reference, bare } = targets
  for (const target of [ours, reference, bare]) await runLoad(target, connections, warmUpMs)
  for (let repetition = 0; repetition < repetitions; repetition++) {
    results.reference.push(await runLoad(reference, connections, measuredMs))
    results.ours.push(await runLoad(ours, connections, measuredMs))
    results.bare.push(await runLoad(bare, connections, measuredMs))
  }
  return results
}

const figuresOf = ({ ours, reference, bare }: Each<LoadResult[]>, figure: (result: LoadResult) => number) => ({
  ours: ours.map(figure),
  reference: reference.map(figure),
  bare: bare.map(figure),
})
