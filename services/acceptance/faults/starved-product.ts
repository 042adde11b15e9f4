import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { startSandbox } from '../../sandbox/start.ts'
import { formatHostVariables } from '../../testing/product.ts'
import { type ProductProcess, startProcess } from '../../testing/product/product-process.ts'
import { startNats, startRedis } from '../../testing/describe-with.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'

const run = promisify(execFile)
const probeFile = join(import.meta.dirname, 'probe-health.ts')
/** Busy processes exit by themselves this many seconds after the test, in case the test does not stop them. */
const spareSeconds = 30

const Probes = z.array(z.object({ url: z.string(), status: z.number(), tookMs: z.number() }))

/** A response of a process to `/livez` or `/readyz`. The status is 0 if there was no response. */
export interface HealthAnswer {
  process: string
  path: string
  status: number
  tookMs: number
}

/** The product with a process per service. All processes share a few CPUs. */
export interface StarvedProduct extends AsyncDisposable {
  url: string
  /** Starts `count` processes that keep these CPUs busy, until disposed or for `seconds`. */
  starve(count: number, seconds: number): Disposable
  /** Probes the health endpoints of every process for `lengthMs`. */
  probe(lengthMs: number): Promise<HealthAnswer[]>
}

/**
 * Starts a process per name on the first `processors` CPUs of the machine. A name that occurs twice starts two
 * processes. Requires `taskset`.
 */
export const startStarvedProduct = async (services: readonly string[], processors: number): Promise<StarvedProduct> => {
  const confined = ['-c', `0-${processors - 1}`]
  await using scope = new AsyncDisposableStack()
  const nats = scope.use(await startNats({ private: true }))
  const redis = scope.use(await startRedis({ private: true }))
  const host = scope.use(await startSandbox({ seed: false }))
  const port = await reserveFreePort()
  const variables = { ...settings, NATS_URL: nats.url, REDIS_URL: redis.url, PORT: String(port) }
  const processes: { name: string; process: ProductProcess }[] = []
  for (const name of services) {
    const own = { ...variables, ...(name === 'query' && formatHostVariables([{ url: host.url }])) }
    const options = { services: [name], variables: own, operationsPort: await reserveFreePort() }
    processes.push({ name: `${name} ${processes.length}`, process: scope.use(await startProcess(options)) })
  }
  for (const { process } of processes) await run('taskset', ['-a', '-p', ...confined, String(process.pid)])
  const running = scope.move()
  return {
    url: `http://127.0.0.1:${port}`,
    starve: (count, seconds) => starve(confined, count, seconds),
    probe: async (lengthMs) => {
      const names = new Map(processes.map(({ name, process }) => [process.operationsUrl, name]))
      const urls = [...names.keys()].flatMap((origin) => [`${origin}/livez`, `${origin}/readyz`])
      const { stdout } = await run(process.execPath, [probeFile, String(lengthMs), ...urls], { maxBuffer: 2 ** 26 })
      return Probes.parse(JSON.parse(stdout)).map(({ url, ...rest }) => {
        const { origin, pathname: path } = new URL(url)
        return { process: names.get(origin) ?? origin, path, ...rest }
      })
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const settings = {
  HOST: '127.0.0.1',
  LOG_LEVEL: 'warn',
  HEALTH_ALERT_ENABLED: 'true',
  SVC_HEALTH_SWEEP_ENABLED: 'true',
  SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '1',
  SVC_QUERY_CACHE: 'off',
  RATE_LIMIT_API_PER_MIN: '1000000',
}

const starve = (confined: readonly string[], count: number, seconds: number): Disposable => {
  const bounded = [...confined, 'timeout', String(seconds + spareSeconds), 'sh', '-c', 'while :; do :; done']
  const busy = Array.from({ length: count }, () => spawn('taskset', bounded, { stdio: 'ignore' }))
  return { [Symbol.dispose]: () => busy.forEach(stopBusyProcess) }
}

/** Stops a busy process. The child is `timeout`, which forwards SIGTERM. */
const stopBusyProcess = (child: ChildProcess): void => void child.kill('SIGTERM')
