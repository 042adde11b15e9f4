import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { load } from 'js-yaml'
import { z } from 'zod'
import { startSandbox } from '../sandbox/start.ts'
import { startNats, startPostgres, startRedis } from '../testing/describe-with.ts'
import { fetchJson } from '../testing/fetch-json.ts'
import { formatHostVariables } from '../testing/product.ts'
import { type ProductProcess, startProcess } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'
import { root } from '../testing/source-file.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { readCpuMs } from './cpu-time.ts'
import { startReplayHost } from './start-replay-host.ts'
import { startSweptHosts } from './start-swept-hosts.ts'

const components = ['query', 'query-guest', 'report', 'mcp', 'alert-dispatcher', 'ingest', 'agent', 'gateway'] as const
type Component = (typeof components)[number]

const fleetSizes = [10, 100] as const
const hostDelayMs = 5
const warmUpMs = 20_000
/** One sweep per period, as with a CronJob, but more often than every five minutes. */
const periodMs = 60_000
const requestsPerSecond = 10
const loadMs = 20_000
const cronSecret = 'the secret of the scheduler'
const paths = ['/api/v1/tables/settings?hostId=0&limit=100', '/api/v1/charts/query-count?hostId=0', '/api/v1/fleet']

/**
 * Measures what the processes of the chart use with 10 and with 100 hosts, one process per Deployment, on real NATS,
 * Redis and PostgreSQL. The reference is the resource request of the chart.
 */
export const sizing: Benchmark = {
  name: 'sizing',
  async *run() {
    const requests = await readChartRequests()
    for (const size of fleetSizes) yield* measureFleet(size, requests)
  },
}

interface Running {
  url: string
  processes: Readonly<Record<Component, ProductProcess>>
}

async function* measureFleet(size: number, requests: ReadonlyMap<Component, Resources>): AsyncGenerator<Comparison> {
  await using scope = new AsyncDisposableStack()
  const { url, processes } = await startFleet(scope, size)
  using memory = watchMemory(processes)
  await sweep(url)
  await pause(warmUpMs)
  const idle = await measureCpu(processes, periodMs, () => sweep(url))
  const busy = await measureCpu(processes, loadMs, () => sendRequests(url))
  for (const component of components) {
    const request = requests.get(component)
    if (!request) throw new Error(`the chart requests no resources for "${component}"`)
    yield {
      name: `${size} hosts, ${component}, peak memory`,
      unit: 'MiB',
      ours: [memory.peakMib(component)],
      reference: [request.memoryMib],
      bar: { atMost: 1 },
    }
    yield {
      name: `${size} hosts, ${component}, CPU with one sweep per minute`,
      unit: 'millicores',
      ours: [idle[component]],
      reference: [request.millicores],
      bar: { atMost: 1 },
    }
    yield {
      name: `${size} hosts, ${component}, additional CPU time of a request`,
      unit: 'ms',
      ours: [(busy[component] - idle[component]) / requestsPerSecond],
      reference: [maxRequestMs],
      bar: { atMost: 1 },
    }
  }
}

/** Maximum CPU time per HTTP request and process. */
const maxRequestMs = 20

const startFleet = async (scope: AsyncDisposableStack, size: number): Promise<Running> => {
  const sandbox = scope.use(await startSandbox({ seed: false }))
  const replay = scope.use(await startReplayHost(sandbox.url, hostDelayMs))
  const fleet = scope.use(await startSweptHosts(size - 1, hostDelayMs))
  const [nats, redis, postgres] = await Promise.all([
    startNats({ private: true }),
    startRedis({ private: true }),
    startPostgres({ private: true }),
  ])
  for (const server of [nats, redis, postgres]) scope.use(server)
  const port = await reserveFreePort()
  const { urls } = await fleet.stats()
  const hosts = [replay.url, ...urls].map((url, index) => ({ url, name: `host-${index}` }))
  const variables = {
    HOST: '127.0.0.1',
    PORT: String(port),
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    SVC_STATE_DB_URL: postgres.url,
    CRON_SECRET: cronSecret,
    SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
    SVC_QUERY_CACHE: 'off',
    RATE_LIMIT_API_PER_MIN: '1000000',
  }
  const own: Partial<Record<Component, Record<string, string>>> = {
    query: { ...formatHostVariables(hosts), SVC_QUERY_ROLE: 'own' },
    'query-guest': { SVC_QUERY_ROLE: 'guest' },
  }
  const processes: Partial<Record<Component, ProductProcess>> = {}
  for (const component of components) {
    const services = [component.replace('-guest', '')]
    const operationsPort = await reserveFreePort()
    processes[component] = scope.use(
      await startProcess({ services, variables: { ...variables, ...own[component] }, operationsPort }),
    )
  }
  // The loop has started every component.
  return { url: `http://127.0.0.1:${port}`, processes: processes as Running['processes'] }
}

const sweep = async (url: string): Promise<void> => {
  const headers = { authorization: `Bearer ${cronSecret}` }
  const { status, text } = await fetchJson(`${url}/api/cron/health-sweep`, { headers })
  if (status !== 200) throw new Error(`sweep failed: status ${status}: ${text}`)
}

const sendRequests = async (url: string): Promise<void> => {
  const until = performance.now() + loadMs
  const sent: Promise<void>[] = []
  for (let number = 0; performance.now() < until; number++) {
    const path = paths[number % paths.length] ?? ''
    sent.push(
      fetchJson(`${url}${path}`).then(({ status, text }) => {
        if (status !== 200) throw new Error(`request ${path} failed: status ${status}: ${text}`)
      }),
    )
    await pause(1_000 / requestsPerSecond)
  }
  await Promise.all(sent)
}

/** Returns the CPU use of each process in millicores during `lengthMs`, in which `work` runs once. */
const measureCpu = async (
  processes: Running['processes'],
  lengthMs: number,
  work: () => Promise<void>,
): Promise<Record<Component, number>> => {
  const before = components.map((component) => readCpuMs(processes[component].pid))
  const began = performance.now()
  await Promise.all([work(), pause(lengthMs)])
  const tookMs = performance.now() - began
  const used = components.map((component, index) => {
    const cpuMs = readCpuMs(processes[component].pid) - (before[index] ?? 0)
    return [component, (cpuMs * 1_000) / tookMs] as const
  })
  // The list has one entry for each component.
  return Object.fromEntries(used) as Record<Component, number>
}

/** The peak of the private memory of each process. */
interface MemoryWatch extends Disposable {
  peakMib(component: Component): number
}

const sampleEveryMs = 250

/**
 * Records the private memory of the processes several times per second until disposed. Pages of files, such as the
 * program itself, do not count: pods on a node share them, and the kernel can drop them.
 */
const watchMemory = (processes: Running['processes']): MemoryWatch => {
  const peaks = new Map<Component, number>()
  const timer = setInterval(() => {
    for (const component of components) {
      const mib = readPrivateMemoryMib(processes[component].pid)
      peaks.set(component, Math.max(mib, peaks.get(component) ?? 0))
    }
  }, sampleEveryMs)
  return {
    peakMib: (component) => peaks.get(component) ?? Number.NaN,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const readPrivateMemoryMib = (pid: number): number => {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error(`cannot read the memory of process ${pid}: it has exited`)
  return Number(kilobytes) / 1024
}

interface Resources {
  millicores: number
  memoryMib: number
}

const Requests = z.object({
  resources: z.object({ requests: z.object({ cpu: z.string().regex(/^\d+m$/), memory: z.string().regex(/^\d+Mi$/) }) }),
})
const Block = Requests.partial().loose()
const Values = z.object({ defaults: Requests, services: z.record(z.string(), Block), guest: Block })

/** Returns the resource requests of each component in the values of the chart. */
const readChartRequests = async (): Promise<Map<Component, Resources>> => {
  const { defaults, services, guest } = Values.parse(load(await readFile(join(root, 'helm/values.yaml'), 'utf8')))
  return new Map(
    components.map((component) => {
      const block = component === 'query-guest' ? guest : services[component]
      const { cpu, memory } = (block?.resources ?? defaults.resources).requests
      return [component, { millicores: Number.parseInt(cpu, 10), memoryMib: Number.parseInt(memory, 10) }]
    }),
  )
}
