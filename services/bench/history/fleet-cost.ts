import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { startRealServer } from '../../acceptance/history/real-server.ts'
import { formatHostVariables } from '../../testing/product.ts'
import { startProcess } from '../../testing/product/product-process.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import { calculateQuantile } from '../benchmark.ts'
import { readCpuMs } from '../cpu-time.ts'

const version = '25.8'
const sampleEveryMs = 5_000
const Listening = z.object({ listening: z.object({ url: z.url() }) })
const Hosts = z.object({ hosts: z.array(z.string()) })

/** What recording a fleet costs. */
export interface FleetCost {
  /** CPU time of the process of the product, in cores. */
  cores: number
  /** How far hosts are behind, in seconds. */
  behindP99: number
  /** Hosts that have a value. */
  hosts: number
  /** CPU time of the history server, in cores, and the parts in its fullest table. */
  engineCores: number
  parts: number
}

/** Records fake hosts that respond at once, on a real history server. */
export const measureFleetCost = async (count: number, warmUpMs: number, measureMs: number): Promise<FleetCost> => {
  await using scope = new AsyncDisposableStack()
  const history = scope.use(await startRealServer(version, 'history'))
  const urls = await startHosts(scope, count)
  const operationsPort = await reserveFreePort()
  const variables = {
    ...formatHostVariables(urls.map((url, index) => ({ url, name: `stub-${index}` }))),
    SVC_HISTORY_URL: history.url,
    LOG_LEVEL: 'warn',
  }
  const product = scope.use(await startProcess({ services: ['query'], variables, operationsPort }))
  await wait(warmUpMs)
  const readEngine = async () => {
    const [row] = await queryClickHouse(
      history.url,
      `SELECT value AS us, (SELECT max(parts) FROM (SELECT count() AS parts FROM system.parts WHERE active AND database = 'watchhouse' GROUP BY table)) AS parts FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'`,
    )
    return { us: Number(row?.us), parts: Number(row?.parts) }
  }
  const before = { cpuMs: readCpuMs(product.pid), engine: await readEngine(), atMs: performance.now() }
  const behind: number[] = []
  let known = 0
  while (performance.now() < before.atMs + measureMs) {
    await wait(sampleEveryMs)
    const metrics = await (await fetch(`${product.operationsUrl}/metrics`)).text()
    const values = [...metrics.matchAll(/^watchhouse_history_behind_seconds\{.*\} (\d+)/gm)].map(([, value]) =>
      Number(value),
    )
    known = values.length
    behind.push(...values)
  }
  const tookMs = performance.now() - before.atMs
  const engine = await readEngine()
  return {
    cores: (readCpuMs(product.pid) - before.cpuMs) / tookMs,
    behindP99: calculateQuantile(behind, 0.99),
    hosts: known,
    engineCores: (engine.us - before.engine.us) / 1_000 / tookMs,
    parts: engine.parts,
  }
}

const startHosts = async (scope: AsyncDisposableStack, count: number): Promise<string[]> => {
  const script = fileURLToPath(new URL('recorded-hosts.ts', import.meta.url))
  const child = spawn(process.execPath, [script, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
  scope.defer(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const { url } = Listening.parse(JSON.parse(String(line))).listening
  return Hosts.parse(await (await fetch(url)).json()).hosts
}
