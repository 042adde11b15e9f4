import { z } from 'zod'
import { integerCellSchema, numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { createLimitParameter, hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun } from '../result-text.ts'

const Merge = z.object({
  database: z.string(),
  table: z.string(),
  elapsedSeconds: numericCellSchema,
  /** Completed fraction of the merge, from 0 to 1. */
  progress: numericCellSchema,
  parts: integerCellSchema,
  isMutation: z.coerce.boolean(),
  sizeBytes: integerCellSchema,
  memoryBytes: integerCellSchema,
  resultPart: z.string(),
})

export const getMergeStatus = defineReadTool({
  name: 'get_merge_status',
  title: 'Running merges',
  description: 'Running merges and part mutations, longest first; progress from 0 to 1.',
  feature: 'OPERATIONS',
  answersFromHistory: true,
  input: z.strictObject({ ...hostParameter, limit: createLimitParameter(50, 500) }),
  output: z.object({ merges: z.array(Merge), truncated: z.boolean() }),
  async run({ hostId, limit }, context) {
    const host = await findHost(context, hostId)
    // One additional row shows whether the list is truncated.
    const statement = { tool: 'get_merge_status', statement: 'merges', maxRows: limit + 1 }
    const running = await readRows(context, host, statement, Merge)
    const merges = running.slice(0, limit)
    const truncated = running.length > limit
    const [longest] = merges
    const text = longest
      ? `${truncated ? 'More than ' : ''}${formatCountedNoun(merges.length, 'merge')} on ${host.name}, the longest for ${longest.elapsedSeconds.toFixed(1)} s.`
      : `No merge is running on ${host.name}.`
    return createToolResult(text, { merges, truncated })
  },
})
