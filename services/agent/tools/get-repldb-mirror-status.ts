import { z } from 'zod'
import { RepldbName } from '#proto/repldb-api.ts'
import { defineReadTool, createToolResult } from '#shared/tools/tool.ts'

const batches = 10
const maxPatterns = 10

export const getRepldbMirrorStatus = defineReadTool({
  name: 'get_repldb_mirror_status',
  title: 'Replication mirrors',
  description:
    'Mirrors of the replication service with state, lag and throughput, worst first. For one mirror also tables, batches and errors.',
  feature: 'REPLDB',
  source: 'Replication service',
  input: z.strictObject({
    mirror: RepldbName.max(255).optional().describe('One mirror; all by default'),
  }),
  async run({ mirror }, { query, call }) {
    const overview = await query.repldbOverview({}, call)
    if (mirror === undefined) {
      const troubled = overview.mirrors.filter(({ state }) => state === 'failed' || state === 'paused').length
      return createToolResult(`${overview.total} mirrors; ${troubled} are failed or paused.`, overview)
    }
    const request = { flowJobName: mirror, includeFlowInfo: true, excludeBatches: true }
    const [status, latest, { patterns }] = await Promise.all([
      query.repldbMirrorStatus(request, call),
      query.repldbBatches({ flowJobName: mirror, limit: batches }, call),
      query.repldbLogPatterns({ mirror, level: 'error' }, call),
    ])
    const summary = overview.mirrors.find(({ name }) => name === mirror) ?? null
    return createToolResult(
      `${mirror} is ${summary?.state ?? status.currentFlowState}, with ${patterns.length} error patterns.`,
      {
        summary,
        tables: status.cdcStatus?.config?.tableMappings ?? [],
        copies: status.cdcStatus?.snapshotStatus?.clones ?? [],
        batches: latest.cdcBatches,
        errors: patterns.slice(0, maxPatterns),
      },
    )
  },
})
