import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostDataReaders } from './host.ts'
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
  /** Explanation of the status, and the remedy. */
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
  /** `cdc` replicates changes; `query` copies the rows of a query. */
  kind: z.enum(['cdc', 'query']),
  source: Peer,
  destination: Peer,
  createdAtMs: z.number(),
  state: z.enum(repldbMirrorStates),
  /** End of the last batch; null if there is none. */
  lastSyncAtMs: z.number().nullable(),
  /** Seconds since the start of the current batch; 0 if none is being written, null without batches. */
  lagSeconds: z.number().nullable(),
  /** Rows written per second in the last batches. */
  rowsPerSecond: z.number().nullable(),
  /** Number of error lines in the last hour, among the latest 500 lines; null if the log cannot be read. */
  errorsLastHour: z.number().nullable(),
})
export type RepldbMirror = z.infer<typeof RepldbMirror>

/** The worst mirrors, at most `maxRepldbMirrors`, and the number of all mirrors. */
export const RepldbOverview = z.object({
  mirrors: z.array(RepldbMirror),
  /** Total number of mirrors. */
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
  /** Total number of lines in the log. */
  total: z.number().int(),
})
export type RepldbLogPatterns = z.infer<typeof RepldbLogPatterns>

const readMethod = <I extends z.ZodType, O extends z.ZodType>(doc: string, input: I, output: O) =>
  rpc({ doc, callers: hostDataReaders, feature: 'REPLDB', safe: true, input, output })
const emptyInput = z.object({})
const mirrorInput = z.object({ mirror: RepldbName })
const peerInput = z.object({ peer: RepldbName })

/**
 * Methods for the replication service. Each reads one or several of its read-only endpoints; `not-implemented` if no
 * such service is configured, `unavailable` or `timeout` if it does not respond.
 */
export const repldbMethods = {
  repldbOffer: rpc({
    doc: 'Returns whether a replication service is configured; calls none.',
    callers: hostDataReaders,
    safe: true,
    input: emptyInput,
    output: z.object({ isConfigured: z.boolean() }),
  }),
  repldbStatus: readMethod('Returns whether the replication service responds.', emptyInput, RepldbStatus),
  repldbOverview: readMethod('Lists mirrors with state, lag and throughput.', emptyInput, RepldbOverview),
  repldbLogPatterns: readMethod(
    'Lists patterns of the latest log lines of one mirror, or of all.',
    z.object({ mirror: RepldbName.optional(), level: RepldbLogLevel.default('all') }),
    RepldbLogPatterns,
  ),
  repldbVersion: readMethod('Returns the version of the replication service.', emptyInput, RepldbVersion),
  repldbSettings: readMethod('Returns the settings of the replication service.', emptyInput, RepldbSettings),
  repldbMirrors: readMethod('Lists all mirrors.', emptyInput, RepldbMirrors),
  repldbMirrorNames: readMethod('Lists the names of all mirrors.', emptyInput, RepldbMirrorNames),
  repldbTableCounts: readMethod(
    'Counts rows of one mirror by table and kind of change.',
    mirrorInput,
    RepldbTableCounts,
  ),
  repldbInitialLoad: readMethod(
    'Returns the progress of the initial copy of one mirror.',
    mirrorInput,
    RepldbInitialLoad,
  ),
  repldbRowsSynced: readMethod('Counts rows that one mirror has written.', mirrorInput, RepldbRowsSynced),
  repldbMirrorStatus: readMethod('Returns the status of one mirror.', RepldbMirrorStatusRequest, RepldbMirrorStatus),
  repldbGraph: readMethod('Counts rows that one mirror wrote, by time.', RepldbGraphRequest, RepldbGraph),
  repldbBatches: readMethod('Lists batches of one mirror.', RepldbBatchesRequest, RepldbBatches),
  repldbLogs: readMethod('Lists log lines of one mirror, or of all.', RepldbLogsRequest, RepldbLogs),
  repldbPeers: readMethod('Lists peers: the databases that mirrors read and write.', emptyInput, RepldbPeers),
  repldbPeerInfo: readMethod('Returns type and version of one peer.', peerInput, RepldbPeerInfo),
  repldbPeerType: readMethod('Returns the type of one peer.', peerInput, RepldbPeerType),
  repldbSlots: readMethod('Lists replication slots of one peer.', peerInput, RepldbSlots),
  repldbPeerStats: readMethod('Lists statements that run on one peer.', peerInput, RepldbPeerStats),
  repldbSlotLag: readMethod('Returns the lag of one slot by time.', RepldbSlotLagRequest, RepldbSlotLag),
}
