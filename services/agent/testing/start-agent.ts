import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai'
import { agent, type AgentQuestion } from '#proto/agent.ts'
import type { CallContext, Identity } from '#proto/call.ts'
import { type ServiceClient, type ServiceHandlers, service } from '#proto/contract.ts'
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
import { startWithOverrides } from '../service.ts'
import type { AgentTool } from '../tool-sources.ts'
import type { ModelScript } from './model-script.ts'
import { createGatewayVariables, type ScriptedGateway, startScriptedGateway } from './scripted-gateway.ts'

const { hosts, runQuery, postgresOffered, repldbOffer } = query.methods
const { tools, call } = mcp.methods
/** The methods of other services that the agent calls. */
const dependencies = {
  query: service('query', { hosts, runQuery, postgresOffered, repldbOffer }),
  mcp: service('mcp', { tools, call }),
}

export interface AgentOptions {
  script: ModelScript
  /** The handlers of `mcp`; by default its only tool is `query`, which returns one row. */
  mcp?: Partial<ServiceHandlers<typeof dependencies.mcp>>
  /** Additional tools. */
  tools?: readonly AgentTool[]
  env?: Record<string, string>
  limits?: Partial<RunLimits>
  clock?: Clock
  /** The hub of a running agent and a new instance name, to start a second agent on the same hub. */
  beside?: { hub: Hub; instance: string }
}

/** The events of a run. */
export interface RunResult {
  runId: string
  chunks: UIMessageChunk[]
  /** The message that the AI SDK assembles from the chunks. */
  message: UIMessage | undefined
}

/** An agent with a scripted model. Tests call it through the bus, as the gateway does. */
export interface TestAgent extends AsyncDisposable {
  gateway: ScriptedGateway
  client: ServiceClient<typeof agent>
  hub: Hub
  logged: string[]
  /** The environment of the agent. */
  env: Record<string, string | undefined>
  begin(question: string | Partial<AgentQuestion>, identity?: Identity): Promise<string>
  /** Reads the events of a run to its end. */
  read(runId: string, after?: number, identity?: Identity): Promise<RunResult>
  /** Starts a run and reads it to its end. */
  run(question: string | Partial<AgentQuestion>, identity?: Identity): Promise<RunResult>
}

const testHosts: Host[] = ['analytics', 'logs'].map((name, id) => ({
  id,
  key: name,
  name,
  host: `${name}:8123`,
  group: null,
  tags: [],
}))

/** Handlers of an MCP server whose only tool, `query`, returns one row. */
export const constantMcpHandlers: ServiceHandlers<typeof dependencies.mcp> = {
  tools: async () => [
    {
      name: 'query',
      title: 'Query',
      description: 'Runs a query.',
      inputSchema: { type: 'object', properties: { sql: { type: 'string' } } },
      core: true,
    },
  ],
  call: async ({ arguments: input, hostKey }) => ({
    isError: false,
    text: '1 row, complete.',
    structured: { rows: [[String(input.sql), hostKey ?? 'none']] },
  }),
}

export const anonymousIdentity: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }

/** Returns a call with a deadline longer than any test. */
export const createTestCall = (identity: Identity = anonymousIdentity): CallContext => ({
  identity,
  deadline: performance.now() + 60_000,
  signal: new AbortController().signal,
  priority: 'person',
})

export const startAgent = async (options: AgentOptions): Promise<TestAgent> => {
  await using opening = new AsyncDisposableStack()
  const gateway = opening.use(await startScriptedGateway({ script: options.script }))
  const env: Record<string, string | undefined> = {
    ...createGatewayVariables(gateway),
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
    opening.use(await (await open('mcp')).serve(dependencies.mcp, { ...constantMcpHandlers, ...options.mcp }))
    const answers = {
      hosts: async () => testHosts,
      runQuery: rejectStatement,
      postgresOffered: async () => ({ isOffered: true }),
      repldbOffer: async () => ({ isConfigured: true }),
    }
    opening.use(await (await open('query')).serve(dependencies.query, answers))
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
  opening.use(await startWithOverrides(context, { tools: options.tools ?? [], limits: options.limits ?? {} }))
  const running = opening.move()
  return {
    ...createRunMethods(client),
    gateway,
    client,
    hub,
    logged,
    env,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const rejectStatement = async (): Promise<never> => {
  throw new Error('unexpected statement')
}

const createRunMethods = (client: ServiceClient<typeof agent>): Pick<TestAgent, 'begin' | 'read' | 'run'> => {
  const begin: TestAgent['begin'] = async (question, identity) => {
    const overrides = typeof question === 'string' ? { messages: [createUserMessage(question)] } : question
    const { runId } = await client.start(
      { hostKey: 'analytics', hostId: 0, messages: [createUserMessage('Is it well?')], ...overrides },
      createTestCall(identity),
    )
    return runId
  }
  const read: TestAgent['read'] = async (runId, after = 0, identity) => {
    let text = ''
    for (let last = after, ended = false; !ended;) {
      const reading = await client.read({ runId, after: last }, createTestCall(identity))
      text += reading.events
      ;({ last, ended } = reading)
    }
    const chunks = await parseChunkStream(text)
    return { runId, chunks, message: await assembleMessage(chunks) }
  }
  return { begin, read, run: async (question, identity) => read(await begin(question, identity), 0, identity) }
}

/** Returns a user message with one text part. */
export const createUserMessage = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] })

/** Parses a UI message stream with the AI SDK. Throws for invalid chunks. */
export const parseChunkStream = async (text: string): Promise<UIMessageChunk[]> => {
  const stream = new Response(text).body ?? new ReadableStream<Uint8Array<ArrayBuffer>>()
  const chunks: UIMessageChunk[] = []
  for await (const parsed of parseJsonEventStream({ stream, schema: uiMessageChunkSchema })) {
    if (!parsed.success) throw parsed.error
    chunks.push(parsed.value)
  }
  return chunks
}

/** Returns the message that the AI SDK assembles from the chunks. */
export const assembleMessage = async (chunks: readonly UIMessageChunk[]): Promise<UIMessage | undefined> => {
  let last: UIMessage | undefined
  // The SDK mutates its input.
  const stream = ReadableStream.from(structuredClone(chunks))
  for await (const message of readUIMessageStream({ stream, onError: () => {} })) last = message
  return last
}

/** Returns the chunks of this type. */
export const filterChunksByType = (chunks: readonly UIMessageChunk[], type: string): UIMessageChunk[] =>
  chunks.filter((chunk) => chunk.type === type)

/** Returns the concatenated text of all chunks. */
export const joinChunkText = (chunks: readonly UIMessageChunk[]): string =>
  chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('')

/** Returns the data of the last part of a type; undefined if there is none. */
export const findLastData = (chunks: readonly UIMessageChunk[], type: `data-${string}`): unknown =>
  chunks.flatMap((chunk) => (chunk.type === type && 'data' in chunk ? [chunk.data] : [])).at(-1)
