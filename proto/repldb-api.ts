import { z } from 'zod'

/**
 * Responses of the replication service with its own names and units. Fields that are not listed here, such as
 * connections and secrets, never leave `query`. Enumerations are text, because a newer service may add values.
 */

/** Name of a mirror, peer or slot, without characters that have a meaning in URLs. */
export const RepldbName = z
  .string()
  .regex(/^\w[\w.-]{0,254}$/, 'must be a name of letters, digits, underscores, dots and hyphens')

const text = z.string().default('')
const count = z.number().default(0)
/** A timestamp in RFC 3339 format; null if the service does not report it. */
const instant = z.string().nullable().default(null)

/** Response of `GET version`. */
export const RepldbVersion = z.object({ version: text, deploymentVersion: z.string().nullable().default(null) })

/** Response of `GET dynamic_settings`; values that look like secrets are hidden. */
export const RepldbSettings = z.object({
  settings: z
    .array(
      z.object({
        name: z.string(),
        value: z.string().nullable().default(null),
        defaultValue: text,
        description: text,
        valueType: text,
        applyMode: text,
        targetForSetting: text,
      }),
    )
    .default([]),
})

/** Response of `GET mirrors/list`; `createdAt` is epoch milliseconds. */
export const RepldbMirrors = z.object({
  mirrors: z
    .array(
      z.object({
        id: count,
        name: z.string(),
        sourceName: text,
        sourceType: text,
        destinationName: text,
        destinationType: text,
        createdAt: count,
        /** Whether it replicates changes; otherwise it copies the rows of a query. */
        isCdc: z.boolean().default(false),
      }),
    )
    .default([]),
})

/** Response of `GET mirrors/names`. */
export const RepldbMirrorNames = z.object({ names: z.array(z.string()).default([]) })

const RowCounts = z.object({ totalCount: count, insertsCount: count, updatesCount: count, deletesCount: count })

/** Response of `GET mirrors/cdc/table_total_counts/{mirror}`. */
export const RepldbTableCounts = z.object({
  totalData: RowCounts.nullable().default(null),
  tablesData: z.array(z.object({ tableName: text, counts: RowCounts.nullable().default(null) })).default([]),
})

/** Progress of the initial copy of one table. */
const Clone = z.object({
  tableName: text,
  sourceTable: text,
  startTime: instant,
  numPartitionsCompleted: count,
  numPartitionsTotal: count,
  numRowsSynced: count,
  avgTimePerPartitionMs: count,
  fetchCompleted: z.boolean().default(false),
  consolidateCompleted: z.boolean().default(false),
})

/** Response of `GET mirrors/cdc/initial_load/{mirror}`. */
export const RepldbInitialLoad = z.object({ tableSummaries: z.array(Clone).default([]) })

/** Response of `GET mirrors/total_rows_synced/{mirror}`. */
export const RepldbRowsSynced = z.object({ totalCountCDC: count, totalCountInitialLoad: count, totalCount: count })

/** A batch of changes; `endTime` is null while it is written. */
const Batch = z.object({ batchId: count, numRows: count, startTime: instant, endTime: instant })

/** Response of `POST mirrors/cdc/batches`: highest ids first, unless the request sets `ascending`. */
export const RepldbBatches = z.object({ cdcBatches: z.array(Batch).default([]), total: count, page: count })

const Partition = z.object({
  partitionId: text,
  startTime: instant,
  endTime: instant,
  rowsInPartition: count,
  rowsSynced: count,
})

/** Settings of a mirror without connection details. */
const MirrorSettings = z.object({
  tableMappings: z
    .array(
      z.object({
        sourceTableIdentifier: text,
        destinationTableIdentifier: text,
        exclude: z.array(z.string()).default([]),
      }),
    )
    .default([]),
  maxBatchSize: count,
  idleTimeoutSeconds: count,
  doInitialSnapshot: z.boolean().default(false),
  softDeleteColName: text,
  syncedAtColName: text,
})

/** Response of `POST mirrors/status`. Unless the request sets `includeFlowInfo`, the nested objects are null. */
export const RepldbMirrorStatus = z.object({
  flowJobName: text,
  /** State of the mirror, such as `STATUS_RUNNING`. */
  currentFlowState: z.string().default('STATUS_UNKNOWN'),
  createdAt: instant,
  errorMessage: text,
  cdcStatus: z
    .object({
      config: MirrorSettings.nullable().default(null),
      snapshotStatus: z
        .object({ clones: z.array(Clone).default([]) })
        .nullable()
        .default(null),
      cdcBatches: z.array(Batch).default([]),
      sourceType: text,
      destinationType: text,
      rowsSynced: count,
    })
    .nullable()
    .default(null),
  qrepStatus: z
    .object({ partitions: z.array(Partition).default([]) })
    .nullable()
    .default(null),
})

/** Response of `POST mirrors/cdc/graph`: rows by time; `time` is epoch milliseconds. */
export const RepldbGraph = z.object({
  data: z.array(z.object({ time: z.number(), rows: count })).default([]),
  totalRows: count,
})

/**
 * Response of `POST mirrors/logs`, newest first. `errors` contains lines of all levels, with secrets hidden.
 * `errorTimestamp` is epoch milliseconds.
 */
export const RepldbLogs = z.object({
  errors: z
    .array(
      z.object({
        id: count,
        flowName: text,
        errorMessage: text,
        errorType: text,
        errorTimestamp: z.number().default(0),
      }),
    )
    .default([]),
  total: count,
  page: count,
})

const ListedPeer = z.object({ name: z.string(), type: text })

/** Response of `GET peers/list`. */
export const RepldbPeers = z.object({
  items: z.array(ListedPeer).default([]),
  sourceItems: z.array(ListedPeer).default([]),
  destinationItems: z.array(ListedPeer).default([]),
})

/** Response of `GET peers/info/{peer}`, without connection details. */
export const RepldbPeerInfo = z.object({ peer: ListedPeer.nullable().default(null), version: text })

/** Response of `GET peers/type/{peer}`. */
export const RepldbPeerType = z.object({ peerType: text })

/** Response of `GET peers/slots/{peer}`. */
export const RepldbSlots = z.object({
  slotData: z
    .array(
      z.object({
        slotName: z.string(),
        active: z.boolean().default(false),
        /** Megabytes of WAL that the source retains for the slot; null if unknown. */
        lagInMb: z.number().nullable().default(null),
        walStatus: text,
        redoLSN: text,
        restartLSN: text,
        confirmedFlushLSN: text,
        waitEventType: text,
        waitEvent: text,
        backendState: text,
      }),
    )
    .default([]),
})

/**
 * Response of `GET peers/stats/{peer}`: current statements of the replication service, with placeholders for literals.
 * `duration` is in seconds, -1 if unknown.
 */
export const RepldbPeerStats = z.object({
  statData: z
    .array(
      z.object({
        pid: count,
        state: text,
        waitEvent: text,
        waitEventType: text,
        queryStart: text,
        query: text,
        duration: z.number().default(-1),
      }),
    )
    .default([]),
})

/**
 * Response of `POST peers/slots/lag_history`, oldest first. `time` is in epoch milliseconds. `size` is in gigabytes:
 * 1000 times the unit of `lagInMb`.
 */
export const RepldbSlotLag = z.object({
  data: z
    .array(z.object({ time: z.number(), size: z.number(), redoLSN: text, restartLSN: text, confirmedLSN: text }))
    .default([]),
})

/** Body of `POST mirrors/status`. */
export const RepldbMirrorStatusRequest = z.strictObject({
  flowJobName: RepldbName,
  includeFlowInfo: z.boolean().default(false),
  excludeBatches: z.boolean().default(false),
})

const aggregateTypes = ['FIVE_MIN', 'FIFTEEN_MIN', 'ONE_HOUR', 'ONE_DAY', 'ONE_MONTH'] as const
/** Bucket widths of the graph of a mirror. */
export const repldbAggregateTypes = aggregateTypes.map((span) => `TIME_AGGREGATE_TYPE_${span}` as const)

/** Body of `POST mirrors/cdc/graph`. */
export const RepldbGraphRequest = z.strictObject({
  flowJobName: RepldbName,
  aggregateType: z.enum(repldbAggregateTypes).default('TIME_AGGREGATE_TYPE_ONE_HOUR'),
  mode: z.enum(['GRAPH_MODE_GROUP_BY', 'GRAPH_MODE_LAST_X']).default('GRAPH_MODE_GROUP_BY'),
})

/** A row id: only rows before or after this row are returned; -1 for no limit. */
const rowIdCursor = z.int().min(-1).default(-1)

/** Body of `POST mirrors/cdc/batches`. */
export const RepldbBatchesRequest = z.strictObject({
  flowJobName: RepldbName,
  limit: z.int().min(1).max(1_000).default(100),
  ascending: z.boolean().default(false),
  beforeId: rowIdCursor,
  afterId: rowIdCursor,
})

/** Log levels, case-insensitive. */
export const RepldbLogLevel = z
  .string()
  .transform((level) => level.toLowerCase())
  .pipe(z.enum(['all', 'info', 'warn', 'error'], 'must be one of all, info, warn, error'))

/** Body of `POST mirrors/logs`. Without a mirror it selects the logs of all mirrors. */
export const RepldbLogsRequest = z.strictObject({
  flowJobName: z.union([z.literal(''), RepldbName]).default(''),
  level: RepldbLogLevel.default('all'),
  page: z.int().min(0).max(100_000).default(0),
  numPerPage: z.int().min(1).max(500).default(100),
  beforeId: rowIdCursor,
  afterId: rowIdCursor,
})

/** Time ranges of the slot lag history, up to now. */
export const repldbHistoryRanges = ['5min', '15min', '1hour', '1day', '1month'] as const

/** Body of `POST peers/slots/lag_history`. */
export const RepldbSlotLagRequest = z.strictObject({
  peerName: RepldbName,
  slotName: RepldbName,
  timeSince: z.enum(repldbHistoryRanges).default('1hour'),
})
