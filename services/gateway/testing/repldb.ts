import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { repldbMethods } from '#proto/repldb.ts'
import type { ValidRequest } from './valid-requests.ts'

const batch = { batchId: 7, numRows: 40, startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:00:10Z' }
const counts = { totalCount: 3, insertsCount: 2, updatesCount: 1, deletesCount: 0 }
const peer = { name: 'shop_source', type: 'POSTGRES' }

/** A replication service with one mirror, `orders`. */
export const fakeRepldb = {
  repldbOffer: async () => ({ isConfigured: true }),
  repldbStatus: async () => ({ status: 'connected', version: '0.30.1', message: 'The replication service answers.' }),
  repldbOverview: async () => ({
    mirrors: [
      {
        name: 'orders',
        kind: 'cdc',
        source: peer,
        destination: { name: 'analytics', type: 'CLICKHOUSE' },
        createdAtMs: 1_000,
        state: 'running',
        lastSyncAtMs: 2_000,
        lagSeconds: 0,
        rowsPerSecond: 4,
        errorsLastHour: 0,
      },
    ],
    total: 1,
    withoutStatus: [],
  }),
  repldbLogPatterns: async () => ({ patterns: [], lines: 0, total: 0 }),
  repldbVersion: async () => ({ version: '0.30.1', deploymentVersion: null }),
  repldbSettings: async () => ({ settings: [] }),
  repldbMirrors: async () => ({ mirrors: [{ name: 'orders', isCdc: true }] }),
  repldbMirrorNames: async () => ({ names: ['orders'] }),
  repldbTableCounts: async () => ({ totalData: counts, tablesData: [{ tableName: 'public.orders', counts }] }),
  repldbInitialLoad: async () => ({ tableSummaries: [] }),
  repldbRowsSynced: async () => ({ totalCountCDC: 3, totalCountInitialLoad: 0, totalCount: 3 }),
  repldbMirrorStatus: async ({ flowJobName }) => ({ flowJobName, currentFlowState: 'STATUS_RUNNING' }),
  repldbGraph: async () => ({ data: [{ time: 1_000, rows: 4 }], totalRows: 4 }),
  repldbBatches: async () => ({ cdcBatches: [batch], total: 1, page: 1 }),
  repldbLogs: async () => ({ errors: [], total: 0, page: 1 }),
  repldbPeers: async () => ({ items: [peer], sourceItems: [peer], destinationItems: [] }),
  repldbPeerInfo: async () => ({ peer, version: '16.4' }),
  repldbPeerType: async () => ({ peerType: peer.type }),
  repldbSlots: async () => ({ slotData: [{ slotName: 'peerflow_slot_orders', active: true, lagInMb: 1.5 }] }),
  repldbPeerStats: async () => ({ statData: [] }),
  repldbSlotLag: async () => ({ data: [{ time: 1_000, size: 0.5 }] }),
} satisfies Partial<ServiceHandlers<Service<typeof repldbMethods>>>

const get = (path: string): [string, ValidRequest] => [`GET ${path}`, { url: path.replaceAll(/\{\w+\}/g, 'orders') }]
const post = (path: string, body: object): [string, ValidRequest] => [`POST ${path}`, { url: path, body }]

/** A valid request for every route of the replication service. */
export const repldbRequests: Record<string, ValidRequest> = Object.fromEntries([
  get('/api/v1/repldb-status'),
  get('/api/v1/repldb/overview'),
  get('/api/v1/repldb/log-patterns'),
  get('/api/v1/repldb/version'),
  get('/api/v1/repldb/dynamic_settings'),
  get('/api/v1/repldb/mirrors/list'),
  get('/api/v1/repldb/mirrors/names'),
  get('/api/v1/repldb/mirrors/cdc/table_total_counts/{mirror}'),
  get('/api/v1/repldb/mirrors/cdc/initial_load/{mirror}'),
  get('/api/v1/repldb/mirrors/total_rows_synced/{mirror}'),
  get('/api/v1/repldb/peers/list'),
  get('/api/v1/repldb/peers/info/{peer}'),
  get('/api/v1/repldb/peers/type/{peer}'),
  get('/api/v1/repldb/peers/slots/{peer}'),
  get('/api/v1/repldb/peers/stats/{peer}'),
  post('/api/v1/repldb/mirrors/status', { flowJobName: 'orders', includeFlowInfo: true }),
  post('/api/v1/repldb/mirrors/cdc/graph', { flowJobName: 'orders', aggregateType: 'TIME_AGGREGATE_TYPE_ONE_DAY' }),
  post('/api/v1/repldb/mirrors/cdc/batches', { flowJobName: 'orders', limit: 5 }),
  post('/api/v1/repldb/mirrors/logs', { level: 'ERROR' }),
  post('/api/v1/repldb/peers/slots/lag_history', { peerName: 'shop_source', slotName: 'peerflow_slot_orders' }),
])
