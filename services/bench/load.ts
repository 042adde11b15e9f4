import { Pool } from 'undici'
import { calculateQuantile } from './benchmark.ts'

export interface LoadTarget {
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

/** Accepted responses besides 200. With `busy`, 503 with `Retry-After` is accepted. */
export interface AcceptedResponses {
  busy?: boolean
}

/** Sends requests for `lengthMs`, sequentially on each connection. Throws for a response that is not accepted. */
export const runLoad = async (
  target: LoadTarget,
  connections: number,
  lengthMs: number,
  accepted: AcceptedResponses = {},
): Promise<LoadResult> => {
  await using pool = disposable(new Pool(target.origin, { connections, pipelining: 1 }))
  const latencies: number[] = []
  const started = performance.now()
  const end = started + lengthMs
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const before = performance.now()
      const status = await sendLoadRequest(pool.pool, target, accepted)
      if (status === 200) latencies.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - started) / 1000
  return {
    p50Ms: calculateQuantile(latencies, 0.5),
    p99Ms: calculateQuantile(latencies, 0.99),
    perSecond: latencies.length / seconds,
  }
}

/** Sends a request and returns the status of the response. Throws if the response is not accepted. */
export const sendLoadRequest = async (
  pool: Pool,
  target: LoadTarget,
  { busy = false }: AcceptedResponses,
): Promise<number> => {
  const { path, method, headers = {}, body = null } = target
  const response = await pool.request({ path, method, headers, body })
  const answer = await response.body.text()
  const { statusCode } = response
  const isRefused = busy && statusCode === 503 && response.headers['retry-after'] !== undefined
  if (statusCode !== 200 && !isRefused)
    throw new Error(`request ${method} ${path} failed: status ${statusCode}: ${answer}`)
  return statusCode
}

const disposable = (pool: Pool): { pool: Pool } & AsyncDisposable => ({
  pool,
  [Symbol.asyncDispose]: () => pool.close(),
})
