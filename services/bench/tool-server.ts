import { type Product, startProduct } from '../testing/product.ts'
import { startNats } from '../testing/describe-with.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { runLoad, type LoadResult, type LoadTarget } from './load.ts'
import { readResidentMemoryMib } from './resident-memory.ts'
import { startBareToolServer, startToolServices } from './start-bare-server.ts'

const repetitions = 5
/** Duration of the warm-up. After it, V8 has optimized the code, as in a long-running process. */
const warmUpMs = 4_000
/** Duration of the warm-up of queries. It is longer, because their path has more code and fewer run per second. */
const warmUpOfQueriesMs = 15_000
const measuredMs = 3_000
const concurrentCalls = 16
const path = '/api/mcp'
const revision = '2026-07-28'
const watchEveryMs = 20
const maxMemoryMib = 64

/**
 * Measures a tool call and a query. The references are a tool call to a server with only the official MCP library, and
 * the same query sent to the host.
 */
export const toolServerCost: Benchmark = {
  name: 'tool-server',
  async run() {
    await using sandbox = await startSandbox({ seed: false })
    return [...(await inOneProcess()), ...(await inTwoProcesses()), ...(await queryCost(sandbox.url))]
  },
}

const inOneProcess = async (): Promise<Comparison[]> => {
  await using ours = await startToolServices(['query', 'report', 'mcp', 'gateway'])
  return await constantTool('one process', ours.url, 0.75)
}

const inTwoProcesses = async (): Promise<Comparison[]> => {
  await using nats = await startNats({ private: true })
  await using _tools = await startToolServices(['mcp'], nats.url)
  await using gateway = await startToolServices(['gateway'], nats.url)
  return await constantTool('gateway and mcp over NATS', gateway.url, 0.85)
}

const constantTool = async (where: string, url: string, atLeast: number): Promise<Comparison[]> => {
  await using bare = await startBareToolServer()
  const call = { name: 'constant', arguments: {} }
  const targets = [modernCall(bare.url, '/', call), modernCall(url, path, call), classicCall(url, path, call)] as const
  const [reference, modern, classic] = await measureInTurn(targets, concurrentCalls, warmUpMs)
  const perSecond = (results: readonly LoadResult[] = []) => results.map((result) => result.perSecond)
  const unit = 'calls/s'
  const common = { name: `a constant tool, ${where}`, unit }
  const rates = [perSecond(classic), perSecond(modern)]
  return [
    { ...common, ours: perSecond(modern), reference: perSecond(reference), bar: { atLeast } },
    {
      name: `legacy protocol relative to modern, ${where}`,
      unit,
      ours: rates[0] ?? [],
      reference: rates[1] ?? [],
      bar: { atLeast: 0.9 },
    },
    {
      name: `modern protocol relative to legacy, ${where}`,
      unit,
      ours: rates[1] ?? [],
      reference: rates[0] ?? [],
      bar: { atLeast: 0.9 },
    },
  ]
}

const queryCost = async (host: string): Promise<Comparison[]> => {
  await using product = await startProduct({
    topology: 'memory',
    hosts: [{ url: host, name: 'bench' }],
    env: { SVC_MCP_PUBLIC: 'true', RATE_LIMIT_MCP_PER_MIN: '100000000', LOG_LEVEL: 'error' },
  })
  const straight: LoadTarget = { origin: host, path: '/', method: 'POST', body: 'SELECT 1' }
  const [reference, ours] = await measureInTurn([straight, query(product, 'SELECT 1')], 1, warmUpOfQueriesMs)
  const p50 = (results: readonly LoadResult[] = []) => results.map((result) => result.p50Ms)
  const little = await peakMemory(product, "SELECT repeat('x', 1000)")
  const much = await peakMemory(product, "SELECT repeat('x', 1000) FROM numbers(231 * 1049)")
  return [
    {
      name: 'query SELECT 1, one caller, p50',
      unit: 'ms',
      ours: p50(ours),
      reference: p50(reference),
      bar: { atMost: 2.5 },
    },
    {
      name: 'additional peak memory, result of 231 MiB instead of 1 kB',
      unit: 'MiB',
      ours: [much - little],
      reference: [maxMemoryMib],
      bar: { atMost: 1 },
    },
  ]
}

const query = ({ url }: Product, sql: string): LoadTarget =>
  modernCall(url, path, { name: 'query', arguments: { sql } })

/** Returns the peak resident memory of the product, in MiB, while it returns the result of a query. */
const peakMemory = async (product: Product, sql: string): Promise<number> => {
  let peakMb = 0
  const look = () => (peakMb = Math.max(peakMb, readResidentMemoryMib(product.gateway.pid)))
  const watching = setInterval(look, watchEveryMs)
  try {
    // The query runs only once, because the garbage of earlier results would count too.
    await runLoad(query(product, sql), 1, 1)
  } finally {
    clearInterval(watching)
  }
  look()
  return peakMb
}

/** Measures the targets in alternation, so that other load affects all of them. */
const measureInTurn = async (
  targets: readonly LoadTarget[],
  connections: number,
  warmUpMs: number,
): Promise<LoadResult[][]> => {
  const results: LoadResult[][] = targets.map(() => [])
  for (const target of targets) await runLoad(target, concurrentCalls, warmUpMs)
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const [index, target] of targets.entries())
      results[index]?.push(await runLoad(target, connections, measuredMs))
  }
  return results
}

interface ToolCall {
  name: string
  arguments: object
}

const json = 'application/json'
const headers = { 'content-type': json, accept: `${json}, text/event-stream` }
const message = (params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

const classicCall = (origin: string, to: string, call: ToolCall): LoadTarget => ({
  origin,
  path: to,
  method: 'POST',
  headers: { ...headers, 'mcp-protocol-version': '2025-11-25' },
  body: message(call),
})

const modernCall = (origin: string, to: string, call: ToolCall): LoadTarget => ({
  origin,
  path: to,
  method: 'POST',
  headers: { ...headers, 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': call.name },
  body: message({
    ...call,
    _meta: { 'io.modelcontextprotocol/protocolVersion': revision, 'io.modelcontextprotocol/clientCapabilities': {} },
  }),
})
