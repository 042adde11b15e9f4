import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RepldbStatus, repldbMethods } from '#proto/repldb.ts'
import type { Parts } from '../parts.ts'
import type { ReplicationService } from './client.ts'
import { endpoints } from './endpoints.ts'
import { reasonOf } from './failure.ts'
import { latestLines, patternsOf } from './log-patterns.ts'
import { overviewOf } from './overview.ts'

/** What handlers work with that ask the replication service. */
export interface WithReplicationService {
  replicationService: ReplicationService
}

type RepldbHandlers = Handlers<Service<typeof repldbMethods>>

/** What the replication service says, and what follows from it. */
export const repldbHandlers = ({ replicationService, clock }: Parts & WithReplicationService): RepldbHandlers => {
  const { ask } = replicationService
  return {
    repldbOffer: async () => ({ isConfigured: replicationService.isConfigured() }),
    repldbStatus: async (_nothing, call) =>
      ask(endpoints.version, {}, call).then(({ version }) => connected(version), statusOf),
    repldbOverview: async (_nothing, call) => overviewOf(replicationService, call, clock.now()),
    repldbLogPatterns: async (asked, call) => {
      const { errors, total } = await latestLines(replicationService, asked, call)
      return { patterns: patternsOf(errors), lines: errors.length, total }
    },
    repldbVersion: (_nothing, call) => ask(endpoints.version, {}, call),
    repldbSettings: (_nothing, call) => ask(endpoints.settings, {}, call),
    repldbMirrors: (_nothing, call) => ask(endpoints.mirrors, {}, call),
    repldbMirrorNames: (_nothing, call) => ask(endpoints.mirrorNames, {}, call),
    repldbTableCounts: ({ mirror }, call) => ask(endpoints.tableCounts, { name: mirror }, call),
    repldbInitialLoad: ({ mirror }, call) => ask(endpoints.initialLoad, { name: mirror }, call),
    repldbRowsSynced: ({ mirror }, call) => ask(endpoints.rowsSynced, { name: mirror }, call),
    repldbMirrorStatus: (body, call) => ask(endpoints.mirrorStatus, { body }, call),
    repldbGraph: (body, call) => ask(endpoints.graph, { body }, call),
    repldbBatches: (body, call) => ask(endpoints.batches, { body }, call),
    repldbLogs: (body, call) => ask(endpoints.logs, { body }, call),
    repldbPeers: (_nothing, call) => ask(endpoints.peers, {}, call),
    repldbPeerInfo: ({ peer }, call) => ask(endpoints.peerInfo, { name: peer }, call),
    repldbPeerType: ({ peer }, call) => ask(endpoints.peerType, { name: peer }, call),
    repldbSlots: ({ peer }, call) => ask(endpoints.slots, { name: peer }, call),
    repldbPeerStats: ({ peer }, call) => ask(endpoints.peerStats, { name: peer }, call),
    repldbSlotLag: (body, call) => ask(endpoints.slotLag, { body }, call),
  }
}

const connected = (version: string): RepldbStatus => ({
  status: 'connected',
  version: version === '' ? null : version,
  message: 'The replication service answers.',
})

/** A failure as a state; whoever left is told nothing. */
const statusOf = (error: unknown): RepldbStatus => {
  const reason = reasonOf(error)
  if (!(error instanceof ServiceError) || reason === undefined) throw error
  const status = reason === 'auth' || reason === 'not-configured' ? reason : 'unreachable'
  return { status, version: null, message: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` }
}
