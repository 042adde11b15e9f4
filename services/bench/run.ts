import { agentCost } from './agent.ts'
import type { Benchmark } from './benchmark.ts'
import { formatComparison } from './benchmark.ts'
import { failingTargetDelay } from './failing-target.ts'
import { deliveryTime } from './delivery.ts'
import { detectionQuality } from './detection.ts'
import { exportRate } from './export.ts'
import { gatewayOverhead } from './gateway-overhead.ts'
import { guardCost } from './guard.ts'
import { healthCost } from './health.ts'
import { historyCost } from './history.ts'
import { ingestCost } from './ingest.ts'
import { lighthouseScores } from './lighthouse.ts'
import { liveQueries } from './live-queries.ts'
import { limiterCost } from './limiter.ts'
import { metricsCost } from './metrics.ts'
import { overloadGoodput } from './overload.ts'
import { pageLoads } from './page-loads.ts'
import { residentMemory } from './resident-memory.ts'
import { sizing } from './sizing.ts'
import { startupTime } from './startup-time.ts'
import { sweepCost } from './sweep.ts'
import { toolServerCost } from './tool-server.ts'
import { transportCost } from './transport.ts'

const benchmarks: readonly Benchmark[] = [
  agentCost,
  gatewayOverhead,
  exportRate,
  metricsCost,
  guardCost,
  limiterCost,
  liveQueries,
  healthCost,
  historyCost,
  ingestCost,
  deliveryTime,
  failingTargetDelay,
  overloadGoodput,
  residentMemory,
  sizing,
  startupTime,
  sweepCost,
  toolServerCost,
  transportCost,
  detectionQuality,
  pageLoads,
  lighthouseScores,
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name))

if (unknown.length > 0) {
  process.stderr.write(
    `unknown benchmark "${unknown.join(', ')}"; available: ${benchmarks.map((b) => b.name).join(', ')}\n`,
  )
  process.exitCode = 2
} else {
  for (const benchmark of benchmarks) {
    if (wanted.length > 0 && !wanted.includes(benchmark.name)) continue
    process.stdout.write(`${benchmark.name} …\n`)
    for await (const comparison of await benchmark.run()) process.stdout.write(`  ${formatComparison(comparison)}\n`)
  }
}
