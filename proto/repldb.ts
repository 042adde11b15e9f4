import { z } from 'zod'
import { rpc } from './contract.ts'
import { readers } from './host.ts'
import {
  RepldbBatches,
  RepldbBatchesRequest,
  RepldbGraph,
  RepldbGraphRequest,
  RepldbInitialLoad,
  RepldbLogLevel,
  RepldbLogs,
  RepldbLogsRequest,
  RepldbMirrorNames,
  RepldbMirrors,
  RepldbMirrorStatus,
  RepldbMirrorStatusRequest,
  RepldbName,
  RepldbPeerInfo,
  RepldbPeers,
  RepldbPeerStats,
  RepldbPeerType,
  RepldbRowsSynced,
  RepldbSettings,
  RepldbSlotLag,
  RepldbSlotLagRequest,
  RepldbSlots,
  RepldbTableCounts,
  RepldbVersion,
} from './repldb-api.ts'

/** Whether the replication service answers: it does, it refuses the password, it does not, or there is none. */
export const RepldbStatus = z.object({
  status: z.enum(['connected', 'auth', 'unreachable', 'not-configured']),
  /** Of the replication service, where it answers. */
  version: z.string().nullable(),
  /** What it means, and what to do. */
  message: z.string(),
})
export type RepldbStatus = z.infer<typeof RepldbStatus>

/** States of a mirror; whatever else a newer service knows is `unknown`. */
export const repldbMirrorStates = [
  'setup',
  'snapshot',
  'running',
  'pausing',
  'paused',
  'resync',
  'modifying',
  'completed',
  'terminating',
  'terminated',
  'failed',
  'unknown',
] as const

const Peer = z.object({ name: z.string(), type: z.string() })

/** One mirror as it is now. */
export const RepldbMirror = z.object({
  name: z.string(),
  /** It follows changes, or copies the rows of a query. */
  kind: z.enum(['cdc', 'query']),
  source: Peer,
  destination: Peer,
  createdAtMs: z.number(),
  state: z.enum(repldbMirrorStates),
  /** Of the batch that ended last; null where none has. */
  lastSyncAtMs: z.number().nullable(),
  /** Seconds since the batch began that is being written; 0 when all are, null where there is none. */
  lagSeconds: z.number().nullable(),
  /** Of the last batches, while they were written. */
  rowsPerSecond: z.number().nullable(),
  /** Lines of level error within the last hour, as far as the latest 500 tell. */
  errorsLastHour: z.number().nullable(),
})
export type RepldbMirror = z.infer<typeof RepldbMirror>

/** All mirrors, the worst first; of more than `mostRepldbMirrors` the rest is named by number. */
export const RepldbOverview = z.object({
  mirrors: z.array(RepldbMirror),
  /** How many there are. */
  total: z.number().int(),
  /** Mirrors that could not be asked for their state, which are `unknown` here. */
  unanswered: z.array(z.string()),
})
export type RepldbOverview = z.infer<typeof RepldbOverview>

/** Mirrors that are asked for their state. */
export const mostRepldbMirrors = 200

/** Lines that say the same but for names, numbers and times. */
export const RepldbLogPattern = z.object({
  /** Sixteen hexadecimal digits that stand for the pattern. */
  fingerprint: z.string(),
  /** With `?` where the lines differ. */
  pattern: z.string(),
  level: z.string(),
  count: z.number().int(),
  firstSeenMs: z.number(),
  lastSeenMs: z.number(),
  mirrors: z.array(z.string()),
  /** The latest line, its secrets hidden. */
  sample: z.string(),
})
export type RepldbLogPattern = z.infer<typeof RepldbLogPattern>

/** Patterns of the latest lines, those of most lines first. */
export const RepldbLogPatterns = z.object({
  patterns: z.array(RepldbLogPattern),
  /** Lines that were looked at, 500 at most. */
  lines: z.number().int(),
  /** Lines that there are. */
  total: z.number().int(),
})
export type RepldbLogPatterns = z.infer<typeof RepldbLogPatterns>

const asks = <I extends z.ZodType, O extends z.ZodType>(doc: string, input: I, output: O) =>
  rpc({ doc, callers: readers, feature: 'REPLDB', safe: true, input, output })
const nothing = z.object({})
const ofMirror = z.object({ mirror: RepldbName })
const ofPeer = z.object({ peer: RepldbName })

/**
 * Methods about the replication service. Each reads one of its endpoints that only read, or several; `not-implemented`
 * where the product is not told of such a service, `unavailable` or `timeout` where it does not answer.
 */
export const repldbMethods = {
  repldbOffer: rpc({
    doc: 'Whether the product is told of a replication service; asks none.',
    callers: readers,
    safe: true,
    input: nothing,
    output: z.object({ isConfigured: z.boolean() }),
  }),
  repldbStatus: asks('Whether the replication service answers.', nothing, RepldbStatus),
  repldbOverview: asks('All mirrors with state, lag and throughput.', nothing, RepldbOverview),
  repldbLogPatterns: asks(
    'Patterns of the latest lines of one mirror, or of all.',
    z.object({ mirror: RepldbName.optional(), level: RepldbLogLevel.default('all') }),
    RepldbLogPatterns,
  ),
  repldbVersion: asks('Its version.', nothing, RepldbVersion),
  repldbSettings: asks('Its settings.', nothing, RepldbSettings),
  repldbMirrors: asks('Its mirrors.', nothing, RepldbMirrors),
  repldbMirrorNames: asks('Names of its mirrors.', nothing, RepldbMirrorNames),
  repldbTableCounts: asks('Rows of one mirror by table and kind of change.', ofMirror, RepldbTableCounts),
  repldbInitialLoad: asks('How far the first copy of each table of one mirror is.', ofMirror, RepldbInitialLoad),
  repldbRowsSynced: asks('Rows that one mirror has written.', ofMirror, RepldbRowsSynced),
  repldbMirrorStatus: asks('State of one mirror, and more of it.', RepldbMirrorStatusRequest, RepldbMirrorStatus),
  repldbGraph: asks('Rows that one mirror wrote, by time.', RepldbGraphRequest, RepldbGraph),
  repldbBatches: asks('Batches of one mirror.', RepldbBatchesRequest, RepldbBatches),
  repldbLogs: asks('Lines of one mirror, or of all.', RepldbLogsRequest, RepldbLogs),
  repldbPeers: asks('Its peers: the databases that it reads and writes.', nothing, RepldbPeers),
  repldbPeerInfo: asks('Kind and version of one peer.', ofPeer, RepldbPeerInfo),
  repldbPeerType: asks('Kind of one peer.', ofPeer, RepldbPeerType),
  repldbSlots: asks('Replication slots of one peer.', ofPeer, RepldbSlots),
  repldbPeerStats: asks('What it runs on one peer now.', ofPeer, RepldbPeerStats),
  repldbSlotLag: asks('How far one slot was behind, by time.', RepldbSlotLagRequest, RepldbSlotLag),
}
