/** Test cases of the replication tools: tool, input, and expected output with the fake replication service. */
export const replicationToolCases: [name: string, input: object, output: object][] = [
  ['get_repldb_mirror_status', {}, { total: 5, mirrors: [{ name: 'billing', state: 'failed' }, {}, {}, {}, {}] }],
  ['get_repldb_mirror_status', { mirror: 'billing' }, { summary: { state: 'failed' }, errors: [{ count: 2 }] }],
  ['get_repldb_metrics', { metric: 'slots' }, { sourceItems: [{ name: 'shop_source' }] }],
  ['get_repldb_metrics', { metric: 'slots', peer: 'shop_source' }, { slotData: [{ lagInMb: 12.5 }, {}] }],
  ['get_repldb_metrics', { metric: 'rows_synced', mirror: 'orders' }, { totalCountInitialLoad: 640_000 }],
  ['get_repldb_metrics', { metric: 'snapshot', mirror: 'events' }, { tables: [{ numPartitionsCompleted: 3 }, {}] }],
  ['get_repldb_metrics', { metric: 'peer_stats', peer: 'shop_source' }, { running: [{ pid: 4_711 }] }],
  ['get_repldb_metrics', { metric: 'log_patterns' }, { lines: 6 }],
]
