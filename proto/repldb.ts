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

/** Whether the replication service responds, rejects the password, is unreachable, or is not configured. */
export const RepldbStatus = z.object({
  status: z.enum(['connected', 'auth', 'unreachable', 'not-configured']),
  /** Version of the replication service if it responds. */
  version: z.string().nullable(),
  /** Explanation and remedy. */
  message: z.string(),
})
export type RepldbStatus = z.infer<typeof RepldbStatus>

/** States of a mirror; states of newer services become `unknown`. */
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

/** The current state of a mirror. */
export const RepldbMirror = z.object({
  name: z.string(),
  /** Whether it replicates changes, or copies the rows of a query. */
  kind: z.enum(['cdc', 'query']),
  source: Peer,
  destination: Peer,
  createdAtMs: z.number(),
  state: z.enum(repldbMirrorStates),
  /** End of the last batch; null if there is none. */
  lastSyncAtMs: z.number().nullable(),
  /** Seconds since the start of the current batch; 0 if none is being written, null without batches. */
  lagSeconds: z.number().nullable(),
  /** Write rate of the last batches. */
  rowsPerSecond: z.number().nullable(),
  /** Error lines in the last hour, among the latest 500 lines. */
  errorsLastHour: z.number().nullable(),
})
export type RepldbMirror = z.infer<typeof RepldbMirror>

/** All mirrors, worst first. Beyond `maxRepldbMirrors`, only the number of the others is returned. */
export const RepldbOverview = z.object({
  mirrors: z.array(RepldbMirror),
  /** Total number. */
  total: z.number().int(),
  /** Mirrors whose state could not be fetched; they are `unknown`. */
  withoutStatus: z.array(z.string()),
})
export type RepldbOverview = z.infer<typeof RepldbOverview>

/** Maximum mirrors whose state is fetched. */
export const maxRepldbMirrors = 200

/** A group of log lines that differ only in names, numbers and times. */
export const RepldbLogPattern = z.object({
  /** Hash of the pattern: sixteen hexadecimal digits. */
  fingerprint: z.string(),
  /** The text with `?` for differing parts. */
  pattern: z.string(),
  level: z.string(),
  count: z.number().int(),
  firstSeenMs: z.number(),
  lastSeenMs: z.number(),
  mirrors: z.array(z.string()),
  /** The latest line with hidden secrets. */
  sample: z.string(),
})
export type RepldbLogPattern = z.infer<typeof RepldbLogPattern>

/** Patterns of the latest lines, most lines first. */
export const RepldbLogPatterns = z.object({
  patterns: z.array(RepldbLogPattern),
  /** Number of analyzed lines, at most 500. */
  lines: z.number().int(),
  /** Total number of lines. */
  total: z.number().int(),
})
export type RepldbLogPatterns = z.infer<typeof RepldbLogPatterns>

const readMethod = <I extends z.ZodType, O extends z.ZodType>(doc: string, input: I, output: O) =>
  rpc({ doc, callers: readers, feature: 'REPLDB', safe: true, input, output })
const nothing = z.object({})
const ofMirror = z.object({ mirror: RepldbName })
const ofPeer = z.object({ peer: RepldbName })

/**
 * Methods for the replication service. Each reads one or several of its read-only endpoints; `not-implemented` if no
 * such service is configured, `unavailable` or `timeout` if it does not respond.
 */
export const repldbMethods = {
  repldbOffer: rpc({
    doc: 'Returns whether a replication service is configured; calls none.',
    callers: readers,
    safe: true,
    input: nothing,
    output: z.object({ isConfigured: z.boolean() }),
  }),
  repldbStatus: readMethod('Whether the replication service answers.', nothing, RepldbStatus),
  repldbOverview: readMethod('All mirrors with state, lag and throughput.', nothing, RepldbOverview),
  repldbLogPatterns: readMethod(
    'Patterns of the latest lines of one mirror, or of all.',
    z.object({ mirror: RepldbName.optional(), level: RepldbLogLevel.default('all') }),
    RepldbLogPatterns,
  ),
  repldbVersion: readMethod('Its version.', nothing, RepldbVersion),
  repldbSettings: readMethod('Its settings.', nothing, RepldbSettings),
  repldbMirrors: readMethod('Its mirrors.', nothing, RepldbMirrors),
  repldbMirrorNames: readMethod('Names of its mirrors.', nothing, RepldbMirrorNames),
  repldbTableCounts: readMethod('Rows of one mirror by table and kind of change.', ofMirror, RepldbTableCounts),
  repldbInitialLoad: readMethod('How far the first copy of each table of one mirror is.', ofMirror, RepldbInitialLoad),
  repldbRowsSynced: readMethod('Rows that one mirror has written.', ofMirror, RepldbRowsSynced),
  repldbMirrorStatus: readMethod('State of one mirror, and more of it.', RepldbMirrorStatusRequest, RepldbMirrorStatus),
  repldbGraph: readMethod('Rows that one mirror wrote, by time.', RepldbGraphRequest, RepldbGraph),
  repldbBatches: readMethod('Batches of one mirror.', RepldbBatchesRequest, RepldbBatches),
  repldbLogs: readMethod('Lines of one mirror, or of all.', RepldbLogsRequest, RepldbLogs),
  repldbPeers: readMethod('Its peers: the databases that it reads and writes.', nothing, RepldbPeers),
  repldbPeerInfo: readMethod('Kind and version of one peer.', ofPeer, RepldbPeerInfo),
  repldbPeerType: readMethod('Kind of one peer.', ofPeer, RepldbPeerType),
  repldbSlots: readMethod('Replication slots of one peer.', ofPeer, RepldbSlots),
  repldbPeerStats: readMethod('What it runs on one peer now.', ofPeer, RepldbPeerStats),
  repldbSlotLag: readMethod('How far one slot was behind, by time.', RepldbSlotLagRequest, RepldbSlotLag),
}
