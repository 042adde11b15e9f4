import { z } from 'zod'
import { count, select } from '#shared/select.ts'
import { limitOf } from '#shared/tool-parameters.ts'
import { hostAt, ofHost } from '../asking.ts'
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
  output: z.object({ merges: z.array(Merge) }),
  async run({ hostId, limit }, asking) {
    const host = await hostAt(asking, hostId)
    const merges = await select(asking, host, { sql, maxRows: limit }, Merge)
    const [longest] = merges
    const text = longest
      ? `${merges.length} merges on ${host.name}, the longest for ${longest.elapsedSeconds.toFixed(1)} s.`
      : `No merge is running on ${host.name}.`
    return { text, structured: { merges } }
  },
})
