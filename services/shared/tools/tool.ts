import type { z } from 'zod'
import { type CallContext, type Feature, requireFeature } from '#proto/call.ts'
import type { alerts } from '#proto/alerts.ts'
import type { RunProgress } from '#proto/console.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { ErrorCode } from '#proto/errors.ts'
import type { Evidence } from '#proto/evidence.ts'
import type { Host } from '#proto/host.ts'
import type { ingest } from '#proto/ingest.ts'
import type { IncompleteReason } from '#proto/unavailable-reason.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import { createHostNotFoundError } from '../text/not-found.ts'
import { describeIssue } from '../text/zod-errors.ts'
import type { Clock } from '../time/clock.ts'
import { runWithHistory } from './recorded-hour.ts'

/** The definition of a tool, shared by the MCP server and the agent. */
export interface Tool {
  name: string
  title: string
  description: string
  /** The feature that the caller needs; null if it depends on the arguments and the called service checks it. */
  feature: Feature | null
  /**
   * `read` changes nothing. `control` changes a host and runs only after an approval. `egress` sends its arguments to
   * an external server and returns untrusted text. `ask` waits for a response of the user.
   */
  kind: 'read' | 'control' | 'egress' | 'ask'
  /** Schema of the arguments; it must be strict, so that unknown arguments are rejected. */
  input: z.ZodObject
  /** Schema of `structured`; only the MCP server publishes it. */
  output?: z.ZodObject
  /** Whether every request to the model includes this tool. The model finds other tools with `search_tools`. */
  core: boolean
  /** Name of the source in evidence, for a tool that reads something other than a host. */
  source?: string
  /** Arguments for tests, valid on any host; absent if the tool needs none. */
  example?: Readonly<Record<string, unknown>>
  /** Whether the last recorded hour of an unreachable host is a useful result. Otherwise the tool fails. */
  answersFromHistory?: boolean
  /**
   * Returns the text of a result for MCP clients that read text. Such a tool publishes no schema of `structured` and
   * returns it only on request.
   */
  format?(structured: Record<string, unknown>): string
  /**
   * Runs the tool with parsed arguments, after the check of `feature`. Throws `ServiceError` for errors that the model
   * can act on.
   */
  run(input: unknown, context: ToolContext): Promise<ToolResult>
}

/** The dependencies of a running tool. */
export interface ToolContext {
  /** Identity, deadline and signal of the caller. */
  call: CallContext
  query: ServiceClient<typeof query>
  report: ServiceClient<typeof report>
  /** Clients of the MCP server, whose tools read alerts and deployments; undefined in the agent. */
  alerts?: ServiceClient<typeof alerts>
  ingest?: ServiceClient<typeof ingest>
  /** Returns the configured hosts. */
  hosts(): Promise<readonly Host[]>
  /** The key of the default host for tool calls; undefined means the first host of the list. */
  hostKey?: string | undefined
  /** Whether statements of the query log include literal values. */
  fullStatements: boolean
  clock: Clock
  /** Called with the host that the tool reads. */
  onHost?(host: Host): void
  /** Called before a statement that may run for long, with a function that returns how far it is. */
  onRun?(readProgress: () => Promise<RunProgress | null>): void
}

/** The result of a tool. */
export interface ToolResult<D = Record<string, unknown>> {
  isError: boolean
  /** The code of the error, if known; `busy` means that the tool did not run. */
  code?: ErrorCode | undefined
  /** A summary for the model. */
  text: string
  /** The data for the model and the page; null for an error. */
  structured: D | null
  /** Evidence in addition to the statements that the recording client of `query` recorded. */
  evidence?: readonly Evidence[]
  /** Additional data parts for the page. */
  parts?: readonly DataPart[]
}

/** A data part of an answer. */
export interface DataPart {
  type: `data-${string}`
  /** A part with the same type and id replaces the previous one. */
  id?: string
  data: unknown
}

interface ReadTraits<I extends z.ZodObject, O extends z.ZodObject> extends Pick<
  Tool,
  'name' | 'title' | 'description' | 'feature' | 'source' | 'example' | 'answersFromHistory'
> {
  core?: boolean
  input: I
  output?: O
  format?(structured: z.output<O>): string
  run(input: z.output<I>, context: ToolContext): Promise<ToolResult<z.output<O>>>
}

/** Declares a read-only tool; the compiler checks its result against `output`. */
export const defineReadTool = <I extends z.ZodObject, O extends z.ZodObject>({
  format,
  ...traits
}: ReadTraits<I, O>): Tool => ({
  core: false,
  ...traits,
  kind: 'read',
  // Callers pass the structured result of `run`.
  ...(format && { format: (structured) => format(structured as z.output<O>) }),
  // Callers pass arguments that `input` has parsed.
  run: (input, context) => traits.run(input as z.output<I>, context),
})

/** Returns the result of a successful call. */
export const createToolResult = <D>(text: string, structured: D): ToolResult<D> => ({
  isError: false,
  text,
  structured,
})

/** Returns the result of a failed call, with a message for the model. */
export const createToolFailure = (text: string, code?: ErrorCode): Omit<ToolResult, 'evidence' | 'parts'> => ({
  isError: true,
  ...(code && { code }),
  text,
  structured: null,
})

/**
 * Parses the arguments and runs a tool. Throws `forbidden`, `ZodError` for invalid arguments, and the errors of `run`.
 */
export const parseAndRunTool = async (tool: Tool, given: unknown, context: ToolContext): Promise<ToolResult> => {
  requireFeature(context.call.identity, tool.feature ?? undefined, `the tool ${tool.name}`)
  const incomplete = new Map<string, IncompleteReason>()
  const note = (found: IncompleteReason | null | undefined) => void (found && incomplete.set(found.message, found))
  const input = tool.input.parse(omitNulls(given, tool.input), { error: describeIssue })
  const result = await runWithHistory(tool, input, { ...context, query: reportIncomplete(context.query, note) })
  const notes = [...incomplete.values()].map(
    ({ message, grant }) => `Incomplete: ${message}; to see them, run ${grant}.`,
  )
  return { ...result, text: [result.text, ...notes].join(' ') }
}

/** Removes optional arguments that are null, and treats null arguments as none, because many models write null. */
const omitNulls = (given: unknown, { shape }: z.ZodObject): unknown => {
  if (given === null || given === undefined) return {}
  if (typeof given !== 'object' || Array.isArray(given)) return given
  const isOmitted = ([name, value]: [string, unknown]) =>
    value === null && (shape[name] === undefined ? false : shape[name].safeParse(undefined).success)
  return Object.fromEntries(Object.entries(given).filter((entry) => !isOmitted(entry)))
}

type Query = ServiceClient<typeof query>

/** Wraps a client so that it reports incomplete results; no tool then presents them as complete. */
const reportIncomplete = (client: Query, note: (found: IncompleteReason | null | undefined) => void): Query => ({
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

/** Returns the annotations of a tool for the Model Context Protocol, according to its kind. */
export const getToolAnnotations = ({ kind }: Pick<Tool, 'kind'>) => ({
  readOnlyHint: kind === 'read',
  destructiveHint: kind === 'control',
  openWorldHint: kind === 'egress',
})

/** Returns the host at a position, or the default host of the call. Throws `not-found` with a list of hosts. */
export const findHost = async (
  { hosts, hostKey, onHost }: Pick<ToolContext, 'hosts' | 'hostKey' | 'onHost'>,
  hostId: number | undefined,
): Promise<Host> => {
  const listed = await hosts()
  const isMeant = ({ id, key }: Host) =>
    hostId === undefined && hostKey !== undefined ? key === hostKey : id === (hostId ?? 0)
  const host = listed.find(isMeant) ?? (hostId === undefined ? createUserHost(hostKey) : undefined)
  if (host === undefined) throw createHostNotFoundError(hostId ?? 0, listed)
  onHost?.(host)
  return host
}

/** Returns the host of a user connection, which is not in the list; undefined without a key. `query` checks the key. */
const createUserHost = (key: string | undefined): Host | undefined =>
  key === undefined ? undefined : { id: -1, key, name: 'your connection', host: '', group: null, tags: [] }
