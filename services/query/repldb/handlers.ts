import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { RepldbStatus, repldbMethods } from '#proto/repldb.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { ReplicationServiceClient } from './client.ts'
import { replicationEndpoints } from './endpoints.ts'
import { readServiceFailureReason } from './failure.ts'
import { fetchLatestLogLines, groupLogLines } from './log-patterns.ts'
import { readMirrorOverview } from './overview.ts'

export interface ReplicationServiceDeps {
  replicationService: ReplicationServiceClient
}

type RepldbHandlers = ServiceHandlers<Service<typeof repldbMethods>>

/** Returns the handlers for the replication service. */
export const createRepldbHandlers = ({
  replicationService,
  clock,
}: QueryHandlerDeps & ReplicationServiceDeps): RepldbHandlers => {
  const { callApi } = replicationService
  return {
    repldbOffer: async () => ({ isConfigured: replicationService.isConfigured() }),
    repldbStatus: async (_nothing, call) =>
      callApi(replicationEndpoints.version, {}, call).then(({ version }) => connected(version), statusOf),
    repldbOverview: async (_nothing, call) => readMirrorOverview(replicationService, call, clock.now()),
    repldbLogPatterns: async (request, call) => {
      const { errors, total } = await fetchLatestLogLines(replicationService, request, call)
      return { patterns: groupLogLines(errors), lines: errors.length, total }
    },
    repldbVersion: (_nothing, call) => callApi(replicationEndpoints.version, {}, call),
    repldbSettings: (_nothing, call) => callApi(replicationEndpoints.settings, {}, call),
    repldbMirrors: (_nothing, call) => callApi(replicationEndpoints.mirrors, {}, call),
    repldbMirrorNames: (_nothing, call) => callApi(replicationEndpoints.mirrorNames, {}, call),
    repldbTableCounts: ({ mirror }, call) => callApi(replicationEndpoints.tableCounts, { name: mirror }, call),
    repldbInitialLoad: ({ mirror }, call) => callApi(replicationEndpoints.initialLoad, { name: mirror }, call),
    repldbRowsSynced: ({ mirror }, call) => callApi(replicationEndpoints.rowsSynced, { name: mirror }, call),
    repldbMirrorStatus: (body, call) => callApi(replicationEndpoints.mirrorStatus, { body }, call),
    repldbGraph: (body, call) => callApi(replicationEndpoints.graph, { body }, call),
    repldbBatches: (body, call) => callApi(replicationEndpoints.batches, { body }, call),
    repldbLogs: (body, call) => callApi(replicationEndpoints.logs, { body }, call),
    repldbPeers: (_nothing, call) => callApi(replicationEndpoints.peers, {}, call),
    repldbPeerInfo: ({ peer }, call) => callApi(replicationEndpoints.peerInfo, { name: peer }, call),
    repldbPeerType: ({ peer }, call) => callApi(replicationEndpoints.peerType, { name: peer }, call),
    repldbSlots: ({ peer }, call) => callApi(replicationEndpoints.slots, { name: peer }, call),
    repldbPeerStats: ({ peer }, call) => callApi(replicationEndpoints.peerStats, { name: peer }, call),
    repldbSlotLag: (body, call) => callApi(replicationEndpoints.slotLag, { body }, call),
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
