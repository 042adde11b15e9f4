import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { ToolContext } from '#shared/tools/tool.ts'
import { lastHostId } from '#shared/tools/tool-parameters.ts'

/** Creates the context of one call. */
export type ContextFor = (call: Call) => ToolContext

/** The position of a host in URIs and prompts, which only allow text. */
export const WrittenHostId = z
  .string()
  .regex(/^(0|[1-9]\d{0,4})$/, `must be a whole number from 0 to ${lastHostId}`)
  .default('0')
  .describe('Position in the list of hosts')
