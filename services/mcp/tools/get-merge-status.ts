import { z } from 'zod'
import { count, select } from '#shared/tools/select.ts'
import { limitOf } from '#shared/tools/tool-parameters.ts'
import { hostAt, ofHost } from '../asking.ts'
import { counted } from '../counted.ts'
import { tool } from '../tool.ts'

const Merge = z.object({
  database: z.string(),
  table: z.string(),
  elapsedSeconds: count,
  /** From 0 to 1. */
  progress: count,
  parts: count,
  isMutation: z.coerce.boolean(),
  sizeBytes: count,
  memoryBytes: count,
  resultPart: z.string(),
})

const sql = `
SELECT database, table, elapsed AS elapsedSeconds, progress, num_parts AS parts, is_mutation AS isMutation,
  total_size_bytes_compressed AS sizeBytes, memory_usage AS memoryBytes, result_part_name AS resultPart
FROM system.merges
ORDER BY elapsed DESC`

export const getMergeStatus = tool({
  name: 'get_merge_status',
  title: 'Running merges',
  description: 'Merges and mutations of parts that are running, longest first; progress is from 0 to 1.',
  feature: 'OPERATIONS',
  input: z.strictObject({ ...ofHost, limit: limitOf(50, 500) }),
  output: z.object({ merges: z.array(Merge), truncated: z.boolean() }),
  async run({ hostId, limit }, asking) {
    const host = await hostAt(asking, hostId)
    // One more than is told tells whether there are more.
    const running = await select(asking, host, { sql, maxRows: limit + 1 }, Merge)
    const merges = running.slice(0, limit)
    const truncated = running.length > limit
    const [longest] = merges
    const text = longest
      ? `${truncated ? 'More than ' : ''}${counted(merges.length, 'merge')} on ${host.name}, the longest for ${longest.elapsedSeconds.toFixed(1)} s.`
      : `No merge is running on ${host.name}.`
    return { text, structured: { merges, truncated } }
  },
})
