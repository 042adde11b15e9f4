import type { Evidence } from '#proto/evidence.ts'
import { hashOf } from '#shared/evidence/recording.ts'
import type { ToolResult } from '#shared/tools/tool.ts'

/** A call of a tool that asked without a statement. */
interface Called {
  hostKey: string
  tool: string
  input: Record<string, unknown>
  atMs: number
}

/** The call itself, and the hash of what it told. */
export const evidenceOfCall = ({ hostKey, tool, input, atMs }: Called, { structured, text }: ToolResult): Evidence => {
  const lists = Object.values(structured ?? {}).filter((value) => Array.isArray(value))
  return {
    hostKey,
    statement: tool,
    parameters: input,
    atMs,
    rows: lists.reduce((sum, { length }) => sum + length, 0),
    rowHash: hashOf(structured ?? text),
  }
}
