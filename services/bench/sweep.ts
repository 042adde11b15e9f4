import { z } from 'zod'
import { openStore } from '#shared/store/open.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { startRedis } from '../testing/describe-with.ts'
import { HostRecord, getHostRecordKey } from '../alert-dispatcher/conditions/condition.ts'
import { runConcurrently } from '../alert-dispatcher/run-concurrently.ts'
import type { Benchmark } from './benchmark.ts'
import { readCpuMs } from './cpu-time.ts'
import { type SweptHosts, startSweptHosts } from './start-swept-hosts.ts'

const hosts = 1_000
const delayMs = 20
const hostsAtOnce = 128
const probeMs = 2_000
const repetitions = 3
const maxStatements = 12
const rulesPerHost = 90
const secret = 'the secret of the bench'

/**
 * Measures a sweep of a fleet. The limit is twice the minimum time of its statements, plus one probe timeout. 1% of the
 * hosts hang, and 1% refuse connections.
 */
export const sweepCost: Benchmark = {
  name: 'sweep',
  async run() {
    await using fleet = await startSweptHosts(hosts, delayMs)
    const { urls } = await fleet.stats()
    await using product = await startProduct({
      hosts: urls.map((url, host) => ({ url, name: `stub-${host}` })),
      env: { CRON_SECRET: secret, LOG_LEVEL: 'warn', SVC_REQUEST_TIMEOUT_MS: '600000' },
    })
    const swept: SweptOnce[] = []
    // The first sweep is not measured, because it detects the capabilities of every host.
    for (let repetition = 0; repetition <= repetitions; repetition++) swept.push(await sweepOnce(product, fleet))
    swept.shift()
    const figures = (of: (once: SweptOnce) => number) => swept.map(of)
    const bound = ({ statements }: SweptOnce) => (2 * statements * delayMs) / hostsAtOnce
    return [
      {
        name: `${hosts} hosts, 1 % hung, 1 % refusing`,
        unit: 'ms',
        ours: figures(({ tookMs }) => tookMs),
        reference: figures((once) => bound(once) + probeMs),
        bar: { atMost: 1 },
      },
      {
        name: 'statements per host',
        unit: 'statements',
        ours: figures(({ statements }) => statements / hosts),
        reference: [maxStatements],
        bar: { atMost: 1 },
      },
      {
        name: 'writing the state of all hosts',
        unit: 'ms of CPU time',
        ours: await writeStates(),
        reference: figures(({ processorMs }) => processorMs),
        bar: { atMost: 0.2 },
      },
    ]
  },
}

interface SweptOnce {
  tookMs: number
  processorMs: number
  /** Number of rule statements on all hosts. */
  statements: number
}

const sweepOnce = async ({ url, gateway }: Product, fleet: SweptHosts): Promise<SweptOnce> => {
  const [statementsBefore, used, began] = [
    (await fleet.stats()).ruleStatements,
    readCpuMs(gateway.pid),
    performance.now(),
  ]
  await sweep(url)
  const tookMs = performance.now() - began
  return {
    tookMs,
    processorMs: readCpuMs(gateway.pid) - used,
    statements: (await fleet.stats()).ruleStatements - statementsBefore,
  }
}

const Swept = z.object({ data: z.object({ hosts: z.literal(hosts) }) })

const sweep = async (url: string): Promise<void> => {
  const headers = { authorization: `Bearer ${secret}` }
  const { status, text, body } = await fetchJson(`${url}/api/cron/health-sweep`, {
    headers,
    signal: AbortSignal.timeout(600_000),
  })
  if (status !== 200) throw new Error(text)
  Swept.parse(body)
}

/** Measures writing the state of each host, with records of realistic size and the concurrency of a sweep. */
const writeStates = async (): Promise<number[]> => {
  await using redis = await startRedis()
  await using store = await openStore({ env: { REDIS_URL: redis.url }, busIsShared: true })
  const check = { status: 'ok' as const, value: 12.5, reason: null, atMs: Date.now() }
  const checks = Object.fromEntries(
    Array.from({ length: rulesPerHost }, (_, rule) => [`rule-of-the-bench-${rule}`, check]),
  )
  const record: HostRecord = { conditions: {}, checks, counters: {}, uptimeSeconds: 60 }
  const keys = Array.from({ length: hosts }, (_, host) => `stub-${host}`)
  const took: number[] = []
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const before = process.cpuUsage()
    await runConcurrently(keys, hostsAtOnce, async (key) => {
      await store.update(getHostRecordKey(key), HostRecord, () => ({ value: record }))
    })
    const { user, system } = process.cpuUsage(before)
    took.push((user + system) / 1_000)
  }
  return took
}
