import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { RepldbName, repldbSpans } from '#proto/repldb-api.ts'
import { readTool, result, type ToolContext } from '#shared/tools/tool.ts'

const metrics = ['slots', 'slot_lag_history', 'rows_synced', 'snapshot', 'peer_stats', 'log_patterns'] as const
/** Points of a history that the model reads; more say no more. */
const mostPoints = 60

const name = (what: string) => RepldbName.max(255).optional().describe(what)

const input = z.strictObject({
  metric: z
    .enum(metrics)
    .describe(
      'slots, peer_stats: of a peer; slot_lag_history: of a slot of a peer; rows_synced, snapshot: of a mirror; log_patterns: of a mirror or all',
    ),
  mirror: name('Name of a mirror'),
  peer: name('Name of a peer; without it, with slots, the peers are told'),
  slot: name('Name of a slot'),
  timeSince: z.enum(repldbSpans).default('1hour').describe('How far slot_lag_history goes back'),
})
type Given = z.output<typeof input>

export const getRepldbMetrics = readTool({
  name: 'get_repldb_metrics',
  title: 'Replication figures',
  description:
    'Figures of the replication service: slots and the history of their lag, rows written, first copies, running statements, log patterns.',
  feature: 'REPLDB',
  source: 'Replication service',
  input,
  run: async (given, context) => {
    const { text, structured } = await tell[given.metric](given, context)
    return result(text, structured)
  },
})

type Tell = (given: Given, context: ToolContext) => Promise<{ text: string; structured: Record<string, unknown> }>

const tell: Readonly<Record<(typeof metrics)[number], Tell>> = {
  slots: async ({ peer }, { query, call }) => {
    if (peer === undefined) {
      const peers = await query.repldbPeers({}, call)
      return { text: `${peers.items.length} peers; ask for the slots of one that is a source.`, structured: peers }
    }
    const slots = await query.repldbSlots({ peer }, call)
    return { text: `${peer} has ${slots.slotData.length} slots.`, structured: slots }
  },
  slot_lag_history: async ({ peer, slot, timeSince }, { query, call }) => {
    const asked = { peerName: needed('peer', peer), slotName: needed('slot', slot), timeSince }
    const { data } = await query.repldbSlotLag(asked, call)
    const every = Math.ceil(data.length / mostPoints)
    const points = data.filter((_, index) => index % every === 0 || index === data.length - 1)
    const gigabytes = points.map(({ time, size }) => ({ timeMs: time, gigabytes: size }))
    return { text: `${data.length} points of the lag of ${asked.slotName}.`, structured: { points: gigabytes } }
  },
  rows_synced: async ({ mirror }, { query, call }) => {
    const asked = { mirror: needed('mirror', mirror) }
    const [rows, tables] = await Promise.all([
      query.repldbRowsSynced(asked, call),
      query.repldbTableCounts(asked, call),
    ])
    return {
      text: `${asked.mirror} has written ${rows.totalCount} rows.`,
      structured: { ...rows, tables: tables.tablesData },
    }
  },
  snapshot: async ({ mirror }, { query, call }) => {
    const asked = { mirror: needed('mirror', mirror) }
    const { tableSummaries } = await query.repldbInitialLoad(asked, call)
    const done = tableSummaries.filter(({ consolidateCompleted }) => consolidateCompleted).length
    return { text: `${done} of ${tableSummaries.length} tables are copied.`, structured: { tables: tableSummaries } }
  },
  peer_stats: async ({ peer }, { query, call }) => {
    const { statData } = await query.repldbPeerStats({ peer: needed('peer', peer) }, call)
    return { text: `${statData.length} statements run there.`, structured: { running: statData } }
  },
  log_patterns: async ({ mirror }, { query, call }) => {
    const found = await query.repldbLogPatterns({ ...(mirror !== undefined && { mirror }), level: 'all' }, call)
    return { text: `${found.patterns.length} patterns in ${found.lines} lines.`, structured: found }
  },
}

const needed = (parameter: string, value: string | undefined): string => {
  if (value !== undefined) return value
  throw new ServiceError('invalid', `${parameter} is required for this metric`, { details: { parameter } })
}
