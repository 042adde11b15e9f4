import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { RepldbName, repldbHistoryRanges } from '#proto/repldb-api.ts'
import { defineReadTool, createToolResult, type ToolContext } from '#shared/tools/tool.ts'

const metrics = ['slots', 'slot_lag_history', 'rows_synced', 'snapshot', 'peer_stats', 'log_patterns'] as const
/** Maximum number of points in a history. More points would not help the model. */
const maxPoints = 60

const createNameParameter = (what: string) => RepldbName.max(255).optional().describe(what)

const input = z.strictObject({
  metric: z
    .enum(metrics)
    .describe(
      'slots, peer_stats: of a peer; slot_lag_history: of a slot of a peer; rows_synced, snapshot: of a mirror; log_patterns: of a mirror or all',
    ),
  mirror: createNameParameter('Name of a mirror'),
  peer: createNameParameter('Name of a peer; with slots, all peers by default'),
  slot: createNameParameter('Name of a slot'),
  timeSince: z.enum(repldbHistoryRanges).default('1hour').describe('Time range of slot_lag_history'),
})
type MetricOptions = z.output<typeof input>

export const getRepldbMetrics = defineReadTool({
  name: 'get_repldb_metrics',
  title: 'Replication metrics',
  description:
    'Metrics of the replication service: slots and their lag history, rows written, initial loads, running statements, log patterns.',
  feature: 'REPLDB',
  source: 'Replication service',
  input,
  run: async (options, context) => {
    const { text, structured } = await readers[options.metric](options, context)
    return createToolResult(text, structured)
  },
})

type MetricReader = (
  options: MetricOptions,
  context: ToolContext,
) => Promise<{ text: string; structured: Record<string, unknown> }>

const readers: Readonly<Record<(typeof metrics)[number], MetricReader>> = {
  slots: async ({ peer }, { query, call }) => {
    if (peer === undefined) {
      const peers = await query.repldbPeers({}, call)
      return { text: `${peers.items.length} peers; pass a source peer to get its slots.`, structured: peers }
    }
    const slots = await query.repldbSlots({ peer }, call)
    return { text: `${peer} has ${slots.slotData.length} slots.`, structured: slots }
  },
  slot_lag_history: async ({ peer, slot, timeSince }, { query, call }) => {
    const request = { peerName: requireParameter('peer', peer), slotName: requireParameter('slot', slot), timeSince }
    const { data } = await query.repldbSlotLag(request, call)
    const every = Math.ceil(data.length / maxPoints)
    const points = data.filter((_, index) => index % every === 0 || index === data.length - 1)
    const gigabytes = points.map(({ time, size }) => ({ timeMs: time, gigabytes: size }))
    return { text: `${data.length} points of the lag of slot ${request.slotName}.`, structured: { points: gigabytes } }
  },
  rows_synced: async ({ mirror }, { query, call }) => {
    const request = { mirror: requireParameter('mirror', mirror) }
    const [rows, tables] = await Promise.all([
      query.repldbRowsSynced(request, call),
      query.repldbTableCounts(request, call),
    ])
    return {
      text: `${request.mirror} has written ${rows.totalCount} rows.`,
      structured: { ...rows, tables: tables.tablesData },
    }
  },
  snapshot: async ({ mirror }, { query, call }) => {
    const request = { mirror: requireParameter('mirror', mirror) }
    const { tableSummaries } = await query.repldbInitialLoad(request, call)
    const done = tableSummaries.filter(({ consolidateCompleted }) => consolidateCompleted).length
    return { text: `${done} of ${tableSummaries.length} tables are copied.`, structured: { tables: tableSummaries } }
  },
  peer_stats: async ({ peer }, { query, call }) => {
    const { statData } = await query.repldbPeerStats({ peer: requireParameter('peer', peer) }, call)
    return { text: `${statData.length} statements are running.`, structured: { running: statData } }
  },
  log_patterns: async ({ mirror }, { query, call }) => {
    const found = await query.repldbLogPatterns({ ...(mirror !== undefined && { mirror }), level: 'all' }, call)
    return { text: `${found.patterns.length} patterns in ${found.lines} lines.`, structured: found }
  },
}

const requireParameter = (parameter: string, value: string | undefined): string => {
  if (value !== undefined) return value
  throw new ServiceError('invalid', `${parameter} is required for this metric`, { details: { parameter } })
}
