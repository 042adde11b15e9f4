import type { z } from 'zod'
import { type Call, type Feature, requireFeature } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Evidence } from '#proto/evidence.ts'
import type { Host } from '#proto/host.ts'
import type { Incomplete } from '#proto/unavailable.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import { noSuchHost } from '../text/no-such.ts'
import { sentenceOf } from '../text/sentence-of.ts'
import type { Clock } from '../time/clock.ts'

/** A tool of a model: the one definition that the tool server and the agent use alike. */
export interface Tool {
  name: string
  title: string
  description: string
  /** What its caller must be allowed; null where that depends on the arguments and the called service checks it. */
  feature: Feature | null
  /**
   * `read` changes nothing; `control` changes a host, and runs only after an approval; `egress` sends its arguments to an external
   * server and returns text from outside; `ask` waits for a response of the user.
   */
  kind: 'read' | 'control' | 'egress' | 'ask'
  /** Strict: unknown arguments are refused. */
  input: z.ZodObject
  /** What `structured` holds, for programs that validate it; only the tool server publishes it. */
  output?: z.ZodObject
  /** Whether the model of the agent knows it from the start; it finds the others by `search_tools`. */
  core: boolean
  /** What it reads instead of a host, as evidence names it. */
  source?: string
  /** Arguments of a call that works on every host, for tests; absent where it works without any. */
  example?: Readonly<Record<string, unknown>>
  /**
   * Takes what `input` has parsed, from a caller that may use `feature`. Throws `ServiceError` for what the model may
   * act on.
   */
  run(input: unknown, context: ToolContext): Promise<ToolResult>
}

/** What a tool may reach while it runs. */
export interface ToolContext {
  /** Identity, deadline and signal of the caller. */
  call: Call
  query: Client<typeof query>
  report: Client<typeof report>
  /** The configured hosts. */
  hosts(): Promise<readonly Host[]>
  /** The host of a call that names none; the first of the list where this is absent too. */
  hostKey?: string | undefined
  /** Whether statements of the query log come with their values. */
  fullStatements: boolean
  clock: Clock
  /** Receives the host that the tool reads. */
  onHost?(host: Host): void
}

/** What a tool returns. */
export interface ToolResult<D = Record<string, unknown>> {
  isError: boolean
  /** The most important sentence about it. */
  text: string
  /** The facts, for the model and the page; null when it failed. */
  structured: D | null
  /** Statements behind it that no client of `query` has recorded. */
  evidence?: readonly Evidence[]
  /** Parts for the page of an answer, besides `structured`. */
  parts?: readonly DataPart[]
}

/** A part of an answer for its page. */
export interface DataPart {
  type: `data-${string}`
  /** A part of the same type and id replaces the one before it. */
  id?: string
  data: unknown
}

interface ReadTraits<I extends z.ZodObject, O extends z.ZodObject> extends Pick<
  Tool,
  'name' | 'title' | 'description' | 'feature' | 'source' | 'example'
> {
  core?: boolean
  input: I
  output?: O
  run(input: z.output<I>, context: ToolContext): Promise<ToolResult<z.output<O>>>
}

/** Declares a tool that reads; the compiler checks its result against `output`. */
export const readTool = <I extends z.ZodObject, O extends z.ZodObject>(traits: ReadTraits<I, O>): Tool => ({
  core: false,
  ...traits,
  kind: 'read',
  // Its callers pass on what its own `input` has parsed.
  run: (input, context) => traits.run(input as z.output<I>, context),
})

/** The result of a tool that succeeded. */
export const result = <D>(text: string, structured: D): ToolResult<D> => ({ isError: false, text, structured })

/** The result of a tool that failed, with a sentence for the model. */
export const failure = (text: string): Omit<ToolResult, 'evidence' | 'parts'> => ({
  isError: true,
  text,
  structured: null,
})

/**
 * Runs a tool with arguments that are not parsed yet. Throws `forbidden`, `ZodError` for arguments that do not fit,
 * and what `run` throws.
 */
export const parseAndRun = async (tool: Tool, given: unknown, context: ToolContext): Promise<ToolResult> => {
  requireFeature(context.call.identity, tool.feature ?? undefined, `the tool ${tool.name}`)
  const incomplete = new Map<string, Incomplete>()
  const note = (found: Incomplete | null | undefined) => void (found && incomplete.set(found.message, found))
  const result = await tool.run(tool.input.parse(given, { error: sentenceOf }), {
    ...context,
    query: notingIncomplete(context.query, note),
  })
  const notes = [...incomplete.values()].map(
    ({ message, grant }) => `Incomplete: ${message}; to see them, run ${grant}.`,
  )
  return { ...result, text: [result.text, ...notes].join(' ') }
}

type Query = Client<typeof query>

/** Returns a client that reports results which may lack rows, so that no tool presents them as complete. */
const notingIncomplete = (client: Query, note: (found: Incomplete | null | undefined) => void): Query => ({
  ...client,
  async toolRows(input, call) {
    const answer = await client.toolRows(input, call)
    note(answer.incomplete)
    return answer
  },
  async runQuery(input, call) {
    const answer = await client.runQuery(input, call)
    note(answer.statement.incomplete)
    return answer
  },
  async chart(input, call) {
    const answer = await client.chart(input, call)
    note(answer.statement?.incomplete)
    return answer
  },
  async exploreDatabases(input, call) {
    const answer = await client.exploreDatabases(input, call)
    note(answer.incomplete)
    return answer
  },
  async exploreTables(input, call) {
    const answer = await client.exploreTables(input, call)
    note(answer.incomplete)
    return answer
  },
})

/** Annotations of a kind of tools, as the Model Context Protocol defines them. */
export const annotationsOf = ({ kind }: Pick<Tool, 'kind'>) => ({
  readOnlyHint: kind === 'read',
  destructiveHint: kind === 'control',
  openWorldHint: kind === 'egress',
})

/** The host at a position, or that of the call without one; throws `not-found` naming the hosts there are. */
export const hostAt = async (
  { hosts, hostKey, onHost }: Pick<ToolContext, 'hosts' | 'hostKey' | 'onHost'>,
  hostId: number | undefined,
): Promise<Host> => {
  const listed = await hosts()
  const isMeant = ({ id, key }: Host) =>
    hostId === undefined && hostKey !== undefined ? key === hostKey : id === (hostId ?? 0)
  const host = listed.find(isMeant) ?? (hostId === undefined ? userHost(hostKey) : undefined)
  if (host === undefined) throw noSuchHost(hostId ?? 0, listed)
  onHost?.(host)
  return host
}

/** A connection of the caller's own is in no list; `query` refuses a key that it does not know. */
const userHost = (key: string | undefined): Host | undefined =>
  key === undefined ? undefined : { id: -1, key, name: 'your connection', host: '', group: null, tags: [] }
