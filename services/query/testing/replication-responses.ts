import { z } from 'zod'
import type { ReplicationFleet, SimulatedMirror } from './replication-fleet.ts'

/** An error response of the gRPC gateway: HTTP status, gRPC code and message. */
export class GrpcError extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, sentence: string) {
    super(sentence)
    this.status = status
    this.code = code
  }
}

const ago = (seconds: number): number => Date.now() - seconds * 1_000
const instant = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(ago(seconds)).toISOString()

const source = { name: 'shop_source', type: 'POSTGRES' }
const sink = { name: 'analytics', type: 'CLICKHOUSE' }

const byName = <T extends { name: string }>(items: readonly T[], name: string): T => {
  const found = items.find((each) => each.name === name)
  if (!found) throw new GrpcError(404, 5, `${name} not found`)
  return found
}

const batchesOf = ({ batches }: SimulatedMirror) =>
  batches.map(({ began, ended, rows }, index) => ({
    batchId: String(index + 1),
    startLsn: '0',
    endLsn: '46637208645632',
    numRows: String(rows),
    startTime: instant(began),
    endTime: instant(ended),
  }))

const clonesOf = ({ name, clones }: SimulatedMirror) =>
  clones.map(({ table, done, total, rows }) => ({
    tableName: table.replace('public.', ''),
    sourceTable: table,
    startTime: instant(7_200),
    numPartitionsCompleted: done,
    numPartitionsTotal: total,
    numRowsSynced: String(rows),
    avgTimePerPartitionMs: '1500',
    flowJobName: `clone_${name}`,
    fetchCompleted: done === total,
    consolidateCompleted: done === total,
    mirrorName: name,
  }))

const rowsOf = ({ batches, clones }: SimulatedMirror) => ({
  cdc: batches.reduce((sum, { rows }) => sum + rows, 0),
  load: clones.reduce((sum, { rows }) => sum + rows, 0),
})

/** Connection settings with secrets, which must not occur in any response of Watchhouse. */
const sourceConfig = {
  host: 'db.internal',
  port: 5432,
  user: 'replicator',
  password: 'hunter2-source',
  database: 'shop',
}
const sinkConfig = {
  host: 'ch.internal',
  user: 'sink',
  password: 'hunter2-sink',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  privateKey: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----',
}

type Get = (fleet: ReplicationFleet, name: string) => object

/** Responses to GET, by path below /v1; `*` matches a name. */
export const httpGetResponses: Readonly<Record<string, Get>> = {
  version: () => ({ version: 'v0.30.1', deploymentVersion: null }),
  dynamic_settings: () => ({
    settings: [
      {
        name: 'PEERDB_MAX_SYNC_CONNECTIONS',
        value: '8',
        defaultValue: '4',
        description: 'Connections.',
        valueType: 'INT',
      },
      {
        name: 'PEERDB_ALERT_TOKEN',
        value: 'hunter2-sink',
        defaultValue: '',
        description: 'For alerts.',
        valueType: 'STRING',
      },
    ],
  }),
  'mirrors/list': ({ mirrors }) => ({
    mirrors: mirrors.map(({ name, isCdc }, index) => ({
      id: String(index + 1),
      workflowId: `${name}-peerflow`,
      name,
      sourceName: source.name,
      sourceType: source.type,
      destinationName: sink.name,
      destinationType: sink.type,
      createdAt: ago(864_000),
      isCdc,
    })),
  }),
  'mirrors/names': ({ mirrors }) => ({ names: mirrors.map(({ name }) => name) }),
  'mirrors/cdc/table_total_counts/*': ({ mirrors }, name) => {
    const total = String(rowsOf(byName(mirrors, name)).cdc)
    const counts = { totalCount: total, insertsCount: total, updatesCount: '0', deletesCount: '0' }
    return { totalData: counts, tablesData: [{ tableName: 'public.orders', counts }] }
  },
  'mirrors/cdc/initial_load/*': ({ mirrors }, name) => ({ tableSummaries: clonesOf(byName(mirrors, name)) }),
  'mirrors/total_rows_synced/*': ({ mirrors }, name) => {
    const { cdc, load } = rowsOf(byName(mirrors, name))
    return { totalCountCDC: String(cdc), totalCountInitialLoad: String(load), totalCount: String(cdc + load) }
  },
  'peers/list': () => ({ items: [source, sink], sourceItems: [source], destinationItems: [sink] }),
  'peers/info/*': (_fleet, name) => {
    const { type } = byName([source, sink], name)
    const config = name === source.name ? { postgresConfig: sourceConfig } : { clickhouseConfig: sinkConfig }
    return { peer: { name, type, ...config }, version: name === source.name ? '16.4' : '25.8' }
  },
  'peers/type/*': (_fleet, name) => ({ peerType: byName([source, sink], name).type }),
  'peers/slots/*': ({ slots }, name) => {
    // Only PostgreSQL has slots; the service fails for other peers.
    if (byName([source, sink], name).type !== 'POSTGRES') throw new GrpcError(500, 13, `${name} is no PostgreSQL peer`)
    return {
      slotData: slots.map(({ name: slotName, isActive, lagMb }) => ({
        slotName,
        redoLSN: '0/16B3748',
        restartLSN: '0/16B3700',
        confirmedFlushLSN: '0/16B3740',
        active: isActive,
        lagInMb: lagMb,
        walStatus: isActive ? 'reserved' : 'extended',
        waitEventType: 'Client',
        waitEvent: 'ClientRead',
        backendState: isActive ? 'active' : '',
      })),
    }
  },
  'peers/stats/*': (_fleet, name) => {
    if (byName([source, sink], name).type !== 'POSTGRES') throw new GrpcError(500, 13, `${name} is no PostgreSQL peer`)
    return {
      statData: [
        {
          pid: '4711',
          waitEvent: 'ClientRead',
          waitEventType: 'Client',
          queryStart: '2026-01-01 00:00:00+00',
          query: "SELECT id FROM users WHERE mail = 'grace@shop.example' AND id > 41",
          duration: 12.5,
          state: 'active',
        },
      ],
    }
  },
}

const id = z.int().min(-1).optional()
const Status = z.strictObject({
  flowJobName: z.string().min(1),
  includeFlowInfo: z.boolean().optional(),
  excludeBatches: z.boolean().optional(),
})
const Graph = z.strictObject({
  flowJobName: z.string().min(1),
  aggregateType: z.string().regex(/^TIME_AGGREGATE_TYPE_(FIVE_MIN|FIFTEEN_MIN|ONE_HOUR|ONE_DAY|ONE_MONTH)$/),
  mode: z.enum(['GRAPH_MODE_GROUP_BY', 'GRAPH_MODE_LAST_X']).optional(),
})
const Batches = z.strictObject({
  flowJobName: z.string().min(1),
  limit: z.int().min(0),
  ascending: z.boolean().optional(),
  beforeId: id,
  afterId: id,
})
const Logs = z.strictObject({
  flowJobName: z.string(),
  level: z.enum(['all', 'info', 'warn', 'error']),
  page: z.int().min(0),
  numPerPage: z.int().min(0),
  beforeId: id,
  afterId: id,
})
const SlotLag = z.strictObject({
  peerName: z.literal(source.name),
  slotName: z.string().min(1),
  timeSince: z.enum(['5min', '15min', '1hour', '1day', '1month']),
})

type Post = (fleet: ReplicationFleet, body: unknown) => object

const parsed = <S extends z.ZodType>(schema: S, body: unknown): z.output<S> => {
  const read = schema.safeParse(body)
  if (!read.success) throw new GrpcError(400, 3, 'invalid request')
  return read.data
}

/** Responses to POST, for the endpoints that only read. */
export const httpPostResponses: Readonly<Record<string, Post>> = {
  'mirrors/status': ({ mirrors }, body) => {
    const { flowJobName, includeFlowInfo } = parsed(Status, body)
    const mirror = byName(mirrors, flowJobName)
    const state = { flowJobName, currentFlowState: mirror.status, createdAt: instant(864_000) }
    if (!includeFlowInfo) return state
    if (!mirror.isCdc) return { ...state, qrepStatus: { partitions: [] } }
    const config = {
      flowJobName,
      source: { name: source.name, postgresConfig: sourceConfig },
      destination: { name: sink.name, clickhouseConfig: sinkConfig },
      tableMappings: [{ sourceTableIdentifier: 'public.orders', destinationTableIdentifier: 'orders', exclude: [] }],
      maxBatchSize: 1_000_000,
      idleTimeoutSeconds: '60',
      doInitialSnapshot: true,
      env: { PEERDB_SECRET: 'hunter2-sink' },
    }
    const snapshotStatus = { clones: clonesOf(mirror) }
    const cdc = { config, snapshotStatus, cdcBatches: batchesOf(mirror), rowsSynced: String(rowsOf(mirror).cdc) }
    return { ...state, cdcStatus: { ...cdc, sourceType: source.type, destinationType: sink.type } }
  },
  'mirrors/cdc/graph': ({ mirrors }, body) => {
    const { batches } = byName(mirrors, parsed(Graph, body).flowJobName)
    const data = batches.map(({ began, rows }) => ({ time: ago(began), rows }))
    return { data, totalRows: String(batches.reduce((sum, { rows }) => sum + rows, 0)) }
  },
  'mirrors/cdc/batches': ({ mirrors }, body) => {
    const { flowJobName, limit, ascending } = parsed(Batches, body)
    const all = batchesOf(byName(mirrors, flowJobName))
    const ordered = ascending ? all : all.toReversed()
    return { cdcBatches: limit === 0 ? ordered : ordered.slice(0, limit), total: all.length, page: 1 }
  },
  'mirrors/logs': ({ logs }, body) => {
    const { flowJobName, level, page, numPerPage } = parsed(Logs, body)
    const wanted = logs.filter(
      (line) => (flowJobName === '' || line.mirror === flowJobName) && (level === 'all' || line.level === level),
    )
    const begin = Math.max(0, page - 1) * numPerPage
    const errors = wanted.slice(begin, begin + numPerPage).map((line, index) => ({
      id: wanted.length - begin - index,
      flowName: line.mirror,
      errorMessage: line.text,
      errorType: line.level,
      errorTimestamp: ago(line.ago),
    }))
    return { errors, total: wanted.length, page }
  },
  'peers/slots/lag_history': ({ slots }, body) => {
    const { slotName } = parsed(SlotLag, body)
    const { history } = byName(slots, slotName)
    // The service returns samples unordered and in gigabytes.
    const data = history.map(({ ago: seconds, lagMb }, index) => ({
      time: ago(seconds),
      size: lagMb / 1_000,
      redoLSN: '0/16B3748',
      restartLSN: '0/16B3700',
      confirmedLSN: `0/16B37${index + 10}`,
    }))
    return { data: [...data.filter((_, index) => index % 2 === 1), ...data.filter((_, index) => index % 2 === 0)] }
  },
}
