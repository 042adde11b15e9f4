import type { Tool } from '#shared/tools/tool.ts'

/** A tool that the model of an answer may call: of this service, of the tool server, or of an external server. */
export interface AgentTool extends Tool {
  /** The JSON Schema of `input` where another process parses the arguments. */
  inputSchema?: Record<string, unknown>
  /** Of tools of the kind `egress`. */
  egress?: EgressTool
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
