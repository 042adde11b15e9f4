import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai'
import { agent, type AgentQuestion } from '#proto/agent.ts'
import type { Call, Identity } from '#proto/call.ts'
import { type Client, type Handlers, service } from '#proto/contract.ts'
import type { Host } from '#proto/host.ts'
import { mcp } from '#proto/mcp.ts'
import { query } from '#proto/query.ts'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import type { Hub } from '#shared/bus/open.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { type Clock, systemClock } from '#shared/time/clock.ts'
import { openReadiness } from '#shared/lifecycle/readiness.ts'
import { openNet } from '#shared/net/net.ts'
import { openStore } from '#shared/store/open.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import type { RunLimits } from '../runs/run.ts'
import { startWith } from '../service.ts'
import type { AgentTool } from '../toolmaker.ts'
import type { Script } from './script.ts'
import { gatewayVariables, type ScriptedGateway, startScriptedGateway } from './scripted-gateway.ts'

const { hosts, runQuery, postgresOffered, repldbOffer } = query.methods
const { tools, call } = mcp.methods
/** What of the contracts an agent asks for while it answers. */
const asked = {
  query: service('query', { hosts, runQuery, postgresOffered, repldbOffer }),
  mcp: service('mcp', { tools, call }),
}

export interface AgentOptions {
  script: Script
  /** Served as `mcp`; by default one tool, `query`, that tells one row. */
  mcp?: Partial<Handlers<typeof asked.mcp>>
  /** Besides those. */
  tools?: readonly AgentTool[]
  env?: Record<string, string>
  limits?: Partial<RunLimits>
  clock?: Clock
  /** An agent beside another one. */
  beside?: { hub: Hub; instance: string }
}

/** A whole answer. */
export interface Answered {
  runId: string
  chunks: UIMessageChunk[]
  /** What the AI SDK makes of them. */
  message: UIMessage | undefined
}

/** The agent as the gateway of the product meets it, with a model that says what it is told to. */
export interface TestAgent extends AsyncDisposable {
  gateway: ScriptedGateway
  client: Client<typeof agent>
  hub: Hub
  logged: string[]
  /** What the agent reads its settings from. */
  env: Record<string, string | undefined>
  begin(question: string | Partial<AgentQuestion>, identity?: Identity): Promise<string>
  /** Reads a run to its end. */
  read(runId: string, after?: number, identity?: Identity): Promise<Answered>
  ask(question: string | Partial<AgentQuestion>, identity?: Identity): Promise<Answered>
}

const ownHosts: Host[] = ['analytics', 'logs'].map((name, id) => ({
  id,
  key: name,
  name,
  host: `${name}:8123`,
  group: null,
  tags: [],
}))

/** One row, told by a tool that is called `query`. */
export const constantMcp: Handlers<typeof asked.mcp> = {
  tools: async () => [
    {
      name: 'query',
      title: 'Query',
      description: 'Runs a query.',
      inputSchema: { type: 'object', properties: { sql: { type: 'string' } } },
      core: true,
    },
  ],
  call: async ({ arguments: given, hostKey }) => ({
    isError: false,
    text: '1 row, complete.',
    structured: { rows: [[String(given.sql), hostKey ?? 'none']] },
  }),
}

export const anybody: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }

/** Of somebody who waits as long as any test. */
export const callOf = (identity: Identity = anybody): Call => ({
  identity,
  deadline: performance.now() + 60_000,
  signal: new AbortController().signal,
  priority: 'person',
})

export const startAgent = async (options: AgentOptions): Promise<TestAgent> => {
  await using opening = new AsyncDisposableStack()
  const gateway = opening.use(await startScriptedGateway({ script: options.script }))
  const env: Record<string, string | undefined> = {
    ...gatewayVariables(gateway),
    LOG_LEVEL: 'info',
    SHUTDOWN_GRACE_MS: '1000',
    ...options.env,
  }
  const { hub, instance } = options.beside ?? { hub: openMemoryHub(), instance: 'agent-1' }
  const logged: string[] = []
  const facts = { instance, version: '1.2.3', services: ['agent'], secretNames: ['LLM_API_KEY'] }
  const telemetry = opening.use(await openTelemetry(env, facts, { write: (line) => logged.push(line) }))
  const open = async (caller: 'gateway' | 'agent' | 'mcp' | 'query') =>
    opening.use(await openBus({ hub, caller, instance, version: '1.2.3', telemetry: telemetry.of(caller) }))
  if (!options.beside) {
    opening.use(await (await open('mcp')).serve(asked.mcp, { ...constantMcp, ...options.mcp }))
    const answers = {
      hosts: async () => ownHosts,
      runQuery: noStatement,
      postgresOffered: async () => ({ isOffered: true }),
      repldbOffer: async () => ({ isConfigured: true }),
    }
    opening.use(await (await open('query')).serve(asked.query, answers))
  }
  const client = (await open('gateway')).client(agent)
  const context = {
    env,
    bus: await open('agent'),
    store: opening.use(await openStore({ env, busIsShared: false })),
    net: opening.use(openNet({ env })),
    telemetry: telemetry.of('agent'),
    clock: options.clock ?? systemClock,
    readiness: openReadiness(),
    openQueue: openMemoryQueues(),
  }
  opening.use(await startWith(context, { tools: options.tools ?? [], limits: options.limits ?? {} }))
  const running = opening.move()
  return { ...talking(client), gateway, client, hub, logged, env, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const noStatement = async (): Promise<never> => {
  throw new Error('no test asks this')
}

const talking = (client: Client<typeof agent>): Pick<TestAgent, 'begin' | 'read' | 'ask'> => {
  const begin: TestAgent['begin'] = async (question, identity) => {
    const given = typeof question === 'string' ? { messages: [said(question)] } : question
    const { runId } = await client.start(
      { hostKey: 'analytics', hostId: 0, messages: [said('Is it well?')], ...given },
      callOf(identity),
    )
    return runId
  }
  const read: TestAgent['read'] = async (runId, after = 0, identity) => {
    let text = ''
    for (let last = after, ended = false; !ended;) {
      const reading = await client.read({ runId, after: last }, callOf(identity))
      text += reading.events
      ;({ last, ended } = reading)
    }
    const chunks = await chunksOf(text)
    return { runId, chunks, message: await messageOf(chunks) }
  }
  return { begin, read, ask: async (question, identity) => read(await begin(question, identity), 0, identity) }
}

/** What a person said. */
export const said = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] })

/** The stream as the AI SDK reads it; throws for whatever that does not know. */
export const chunksOf = async (text: string): Promise<UIMessageChunk[]> => {
  const stream = new Response(text).body ?? new ReadableStream<Uint8Array<ArrayBuffer>>()
  const chunks: UIMessageChunk[] = []
  for await (const parsed of parseJsonEventStream({ stream, schema: uiMessageChunkSchema })) {
    if (!parsed.success) throw parsed.error
    chunks.push(parsed.value)
  }
  return chunks
}

/** The message that the AI SDK puts together of them. */
export const messageOf = async (chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> => {
  let last: UIMessage | undefined
  // The SDK goes on writing into what it is given.
  const stream = ReadableStream.from(structuredClone(chunks))
  for await (const message of readUIMessageStream({ stream, onError: () => {} })) last = message
  return last
}

/** Chunks of one type. */
export const ofType = (chunks: readonly UIMessageChunk[], type: string): UIMessageChunk[] =>
  chunks.filter((chunk) => chunk.type === type)

/** All that was said in words. */
export const textOf = (chunks: readonly UIMessageChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('')

/** The data of the last part of a type. */
export const dataOf = (chunks: readonly UIMessageChunk[], type: `data-${string}`): unknown =>
  chunks.flatMap((chunk) => (chunk.type === type && 'data' in chunk ? [chunk.data] : [])).at(-1)
