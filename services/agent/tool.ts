import type { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Evidence } from '#proto/evidence.ts'
import type { Host } from '#proto/host.ts'
import type { mcp } from '#proto/mcp.ts'
import type { query } from '#proto/query.ts'
import type { report } from '#proto/report.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Environment } from '#shared/config/environment.ts'

/** What a tool may reach while it runs. */
export interface Asking {
  /** Identity, deadline and signal of the run. */
  call: Call
  /** The host that the conversation is about; tools may take another by its `hostId`. */
  hostKey: string
  hosts(): Promise<readonly Host[]>
  query: Client<typeof query>
  report: Client<typeof report>
  mcp: Client<typeof mcp>
  alerts: Client<typeof alerts>
  env: Environment
  clock: Clock
}

/** A part for the page, beside the output of the tool. */
export interface DataPart {
  type: `data-${string}`
  /** A part of the same type and id replaces the one before it. */
  id?: string
  data: unknown
}

/** What came of a tool. */
export interface ToolAnswer {
  isError: boolean
  /** The sentence that says the most of it. */
  text: string
  /** What model and page get besides; the loop bounds it. */
  structured: Record<string, unknown> | null
  /**
   * Statements that stand behind it; the loop numbers them and keeps them with the conversation. What a tool asks by
   * `asking.query.runQuery` is on record already and need not be told again.
   */
  evidence?: readonly Evidence[]
  parts?: readonly DataPart[]
}

/** What a tool that sends its arguments to an external server adds. */
export interface EgressTool {
  server: { id: string; name: string }
  /** Whether the operator lets this call go without an approval. */
  isAllowed(input: unknown): boolean
  /** Hosts on the operator's list, whose names are no secrets. */
  allowedHosts(): readonly string[]
  /** Throws `ServiceError` where the call cannot be made even with an approval. */
  requireCallable(input: unknown): void
}

/** Something that the model may use. */
export interface AgentTool {
  name: string
  title: string
  description: string
  /** Strict; the loop parses with it before `run`. */
  input: z.ZodObject
  /** Told to the model instead of `input`, where the schema of a tool is another server's. */
  inputSchema?: Record<string, unknown>
  /**
   * `control` changes a host, and runs only after an approval; `egress` sends its arguments to an external server, and may need one; `ask`
   * is answered by the person.
   */
  kind: 'read' | 'control' | 'egress' | 'ask'
  /** Told to the model at once; the others are found by `search_tools`. */
  core: boolean
  /** Whether its text comes from outside the product and its hosts. */
  untrusted: boolean
  /** For tools of external servers. */
  egress?: EgressTool
  /** Throws `ServiceError` for what the model may act on. */
  run(input: unknown, asking: Asking): Promise<ToolAnswer>
}
