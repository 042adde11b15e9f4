import { setTimeout as wait } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { type Product, startProduct } from '../testing/product.ts'
import { createGatewayVariables, scriptedApiKey } from '../agent/testing/scripted-gateway.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { readResidentMemoryMib } from './resident-memory.ts'
import { type BareServer, startScript } from './start-bare-server.ts'

const repetitions = 5
const concurrentRuns = 200
const maxMemoryMib = 512
const watchEveryMs = 100

/**
 * Measures the overhead of the agent over its model: total time, time to first token, and memory of concurrent runs.
 */
export const agentCost: Benchmark = {
  name: 'agent',
  async run() {
    await using sandbox = await startSandbox({ label: 'bench', seed: false })
    const hosts = [{ url: sandbox.url, name: 'bench' }]
    return [await compareTotalTime(hosts), await compareTimeToFirstToken(hosts), await measureConcurrentMemory(hosts)]
  },
}

type Hosts = { url: string; name: string }[]

const startModel = (act: string): Promise<BareServer> =>
  startScript(new URL('scripted-model.ts', import.meta.url), [act])

const startAgentOf = ({ url }: BareServer, hosts: Hosts, topology: 'memory' | 'nats'): Promise<Product> => {
  const env = { ...createGatewayVariables({ url }), RATE_LIMIT_AGENT_PER_MIN: '1000000', LOG_LEVEL: 'warn' }
  return startProduct({ topology, hosts, env, toolServer: true, agent: true })
}

/** Compares an agent run of four steps and three tool calls with the same four requests sent directly to the model. */
const compareTotalTime = async (hosts: Hosts): Promise<Comparison> => {
  await using model = await startModel('work')
  await using product = await startAgentOf(model, hosts, 'memory')
  const figures = await measureInTurn(
    async () => (await runAgent(product.url)).wholeMs,
    async () => {
      let sum = 0
      for (let turns = 0; turns < 4; turns++) sum += (await callModel(model.url, turns)).wholeMs
      return sum
    },
  )
  return { name: 'a run with three tool calls at 200 tokens/s', unit: 'ms', ...figures, bar: { atMost: 1.05 } }
}

const compareTimeToFirstToken = async (hosts: Hosts): Promise<Comparison> => {
  await using model = await startModel('greeting')
  await using product = await startAgentOf(model, hosts, 'memory')
  const figures = await measureInTurn(
    async () => (await runAgent(product.url)).firstWordMs,
    async () => (await callModel(model.url, 0)).firstWordMs,
  )
  return { name: 'time to first token', unit: 'ms', ...figures, bar: { atMost: 1.1 } }
}

const measureConcurrentMemory = async (hosts: Hosts): Promise<Comparison> => {
  await using model = await startModel('crowd')
  await using product = await startAgentOf(model, hosts, 'nats')
  const pid = product.agents[0]?.pid ?? 0
  let peakMb = 0
  const watching = setInterval(() => (peakMb = Math.max(peakMb, readResidentMemoryMib(pid))), watchEveryMs)
  try {
    await Promise.all(Array.from({ length: concurrentRuns }, () => runAgent(product.url)))
    await wait(watchEveryMs)
  } finally {
    clearInterval(watching)
  }
  return {
    name: `peak memory of one agent process, ${concurrentRuns} concurrent runs`,
    unit: 'MiB',
    ours: [peakMb],
    reference: [maxMemoryMib],
    bar: { atMost: 1 },
  }
}

/** Runs both sides in alternation, so that other load affects both. The first round is a warm-up. */
const measureInTurn = async (
  ours: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<{ ours: number[]; reference: number[] }> => {
  await reference()
  await ours()
  const figures: { ours: number[]; reference: number[] } = { ours: [], reference: [] }
  for (let repetition = 0; repetition < repetitions; repetition++) {
    figures.reference.push(await reference())
    figures.ours.push(await ours())
  }
  return figures
}

interface TimedResponse {
  firstWordMs: number
  wholeMs: number
}

const runAgent = (url: string): Promise<TimedResponse> =>
  timed(`${url}/api/v1/agent`, { message: 'Is it well?' }, '"text-delta"')

/** Sends the conversation after `turns` steps directly to the model. */
const callModel = (url: string, turns: number): Promise<TimedResponse> => {
  const calls = Array.from({ length: turns }, (_, turn) => `call-${turn}`)
  const messages = [
    { role: 'user', content: 'Is it well?' },
    ...calls.flatMap((id) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'query', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: id, content: '1' },
    ]),
  ]
  return timed(`${url}/chat/completions`, { model: 'scripted/model', messages, stream: true }, '"content":"')
}

const dispatcher = new Agent({ connections: concurrentRuns })

/** Sends a POST request and reads the whole response. Also measures the time until the body contains `word`. */
const timed = async (url: string, body: object, word: string): Promise<TimedResponse> => {
  const began = performance.now()
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${scriptedApiKey}` }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), dispatcher })
  const decoder = new TextDecoder()
  let firstWordMs = 0
  let last = ''
  for await (const bytes of answer.body ?? []) {
    last = decoder.decode(bytes)
    if (firstWordMs === 0 && last.includes(word)) firstWordMs = performance.now() - began
  }
  if (!answer.ok || !last.includes('[DONE]'))
    throw new Error(`request to ${url} failed: status ${answer.status}: ${last}`)
  return { firstWordMs, wholeMs: performance.now() - began }
}
