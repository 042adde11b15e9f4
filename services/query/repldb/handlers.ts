import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RepldbStatus, repldbMethods } from '#proto/repldb.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { ReplicationService } from './client.ts'
import { endpoints } from './endpoints.ts'
import { readServiceFailureReason } from './failure.ts'
import { fetchLatestLines, groupLogPatterns } from './log-patterns.ts'
import { readOverview } from './overview.ts'

export interface ReplicationServiceDeps {
  replicationService: ReplicationService
}

type RepldbHandlers = Handlers<Service<typeof repldbMethods>>

/** Returns the handlers for the replication service. */
export const createRepldbHandlers = ({
  replicationService,
  clock,
}: QueryHandlerDeps & ReplicationServiceDeps): RepldbHandlers => {
  const { callApi } = replicationService
  return {
    repldbOffer: async () => ({ isConfigured: replicationService.isConfigured() }),
    repldbStatus: async (_nothing, call) =>
      callApi(endpoints.version, {}, call).then(({ version }) => connected(version), statusOf),
    repldbOverview: async (_nothing, call) => readOverview(replicationService, call, clock.now()),
    repldbLogPatterns: async (request, call) => {
      const { errors, total } = await fetchLatestLines(replicationService, request, call)
      return { patterns: groupLogPatterns(errors), lines: errors.length, total }
    },
    repldbVersion: (_nothing, call) => callApi(endpoints.version, {}, call),
    repldbSettings: (_nothing, call) => callApi(endpoints.settings, {}, call),
    repldbMirrors: (_nothing, call) => callApi(endpoints.mirrors, {}, call),
    repldbMirrorNames: (_nothing, call) => callApi(endpoints.mirrorNames, {}, call),
    repldbTableCounts: ({ mirror }, call) => callApi(endpoints.tableCounts, { name: mirror }, call),
    repldbInitialLoad: ({ mirror }, call) => callApi(endpoints.initialLoad, { name: mirror }, call),
    repldbRowsSynced: ({ mirror }, call) => callApi(endpoints.rowsSynced, { name: mirror }, call),
    repldbMirrorStatus: (body, call) => callApi(endpoints.mirrorStatus, { body }, call),
    repldbGraph: (body, call) => callApi(endpoints.graph, { body }, call),
    repldbBatches: (body, call) => callApi(endpoints.batches, { body }, call),
    repldbLogs: (body, call) => callApi(endpoints.logs, { body }, call),
    repldbPeers: (_nothing, call) => callApi(endpoints.peers, {}, call),
    repldbPeerInfo: ({ peer }, call) => callApi(endpoints.peerInfo, { name: peer }, call),
    repldbPeerType: ({ peer }, call) => callApi(endpoints.peerType, { name: peer }, call),
    repldbSlots: ({ peer }, call) => callApi(endpoints.slots, { name: peer }, call),
    repldbPeerStats: ({ peer }, call) => callApi(endpoints.peerStats, { name: peer }, call),
    repldbSlotLag: (body, call) => callApi(endpoints.slotLag, { body }, call),
  }
}

const connected = (version: string): RepldbStatus => ({
  status: 'connected',
  version: version === '' ? null : version,
  message: 'The replication service is reachable.',
})

/** Converts a failure to a status; cancellations are rethrown. */
const statusOf = (error: unknown): RepldbStatus => {
  const reason = readServiceFailureReason(error)
  if (!(error instanceof ServiceError) || reason === undefined) throw error
  const status = reason === 'auth' || reason === 'not-configured' ? reason : 'unreachable'
  return { status, version: null, message: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.` }
}
