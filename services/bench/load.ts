import { Pool } from 'undici'
import { percentile } from './benchmark.ts'

export interface Target {
  origin: string
  path: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

export interface LoadResult {
  p50Ms: number
  p99Ms: number
  perSecond: number
}

/** Sends requests one after another on `connections` connections for `lengthMs`; any answer but 200 fails the run. */
export const load = async (target: Target, connections: number, lengthMs: number): Promise<LoadResult> => {
  await using pool = disposable(new Pool(target.origin, { connections, pipelining: 1 }))
  const latencies: number[] = []
  const started = performance.now()
  const end = started + lengthMs
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const before = performance.now()
      await send(pool.pool, target)
      latencies.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - started) / 1000
  return {
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    perSecond: latencies.length / seconds,
  }
}

const send = async (pool: Pool, target: Target): Promise<void> => {
  const { path, method, headers = {}, body = null } = target
  const response = await pool.request({ path, method, headers, body })
  const answer = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`${method} ${path} answered ${response.statusCode}: ${answer}`)
}

const disposable = (pool: Pool): { pool: Pool } & AsyncDisposable => ({
  pool,
  [Symbol.asyncDispose]: () => pool.close(),
})
