import { startProduct } from '../acceptance/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { load, type LoadResult, type Target } from './load.ts'
import { startReplayHost, type ReplayHost } from './start-replay-host.ts'

const repetitions = 7
const warmUpMs = 1_500
/**
 * Until the engine has compiled what runs for every request, which a product that has run for a while has behind it. Counted in
 * requests: how many seconds it takes depends on what else wants the processors, which the engine's compiler shares.
 */
const settledAfter = 50_000
const settlingStepMs = 2_000
const measuredMs = 2_000
const hostDelayMs = 2
const crowd = 32
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

/** What the way through gateway, bus and query costs beside the same statement sent straight to the host; caches and single flight off. */
export const gatewayTax: Benchmark = {
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
    // As many connections to the host as the load opens without us in between.
    env: { SVC_QUERY_CACHE: 'off', LOG_LEVEL: 'warn', COLUMNDB_POOL_SIZE: String(crowd) },
  })
  const through: Target = { origin: product.url, path: statusPath, method: 'GET' }
  await settle(through)
  const direct = await host.busiest()

  const alone = await alternate(through, direct, 1)
  const crowded = await alternate(through, direct, crowd)
  return [
    {
      name: `${bars.topology}, one caller, p50`,
      unit: 'ms',
      ours: alone.ours.map((result) => result.p50Ms),
      reference: alone.reference.map((result) => result.p50Ms),
      bar: { atMost: bars.aloneAtMost },
    },
    {
      name: `${bars.topology}, 32 callers, throughput`,
      unit: 'requests/s',
      ours: crowded.ours.map((result) => result.perSecond),
      reference: crowded.reference.map((result) => result.perSecond),
      bar: { atLeast: bars.crowdAtLeast },
    },
  ]
}

const settle = async (target: Target): Promise<void> => {
  for (let answered = 0; answered < settledAfter;) {
    const { perSecond } = await load(target, crowd, settlingStepMs)
    answered += (perSecond * settlingStepMs) / 1000
  }
}

const alternate = async (through: Target, direct: Target, connections: number) => {
  const ours: LoadResult[] = []
  const reference: LoadResult[] = []
  await load(through, connections, warmUpMs)
  await load(direct, connections, warmUpMs)
  for (let repetition = 0; repetition < repetitions; repetition++) {
    reference.push(await load(direct, connections, measuredMs))
    ours.push(await load(through, connections, measuredMs))
  }
  return { ours, reference }
}
