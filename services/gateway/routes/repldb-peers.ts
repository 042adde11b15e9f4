import type { CallContext } from '#proto/call.ts'
import { noQuery } from '#proto/http/parameters.ts'
import {
  createRepldbResponseSchema,
  RepldbPeerInfo,
  RepldbPeers,
  RepldbPeerStats,
  RepldbPeerType,
  RepldbSlotLag,
  RepldbSlotLagRequest,
  RepldbSlots,
} from '#proto/http/repldb.ts'
import type { Gateway } from '../gateway.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'

const common = { feature: 'REPLDB', access: 'read', limit: 'data' } as const

/** Returns a handler that responds with the result of `query` unchanged. */
export const respondWithQueryResult =
  <G extends { call: CallContext }, D>(load: (query: Gateway['query'], request: G, call: CallContext) => Promise<D>) =>
  async (request: G, gateway: Gateway) =>
    createSuccessBody(await load(gateway.query, request, request.call), {})

const peers = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/peers/list',
  doc: 'Lists peers: the databases that the replication service reads and writes',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbPeers),
  handle: respondWithQueryResult((query, _request, call) => query.repldbPeers({}, call)),
})

const peerInfo = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/peers/info/{peer}',
  doc: 'Returns the kind and version of a peer, without connection details',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbPeerInfo),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbPeerInfo(path, call)),
})

const peerType = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/peers/type/{peer}',
  doc: 'Returns the kind of a peer',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbPeerType),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbPeerType(path, call)),
})

const slots = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/peers/slots/{peer}',
  doc: 'Lists the replication slots of a peer',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbSlots),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbSlots(path, call)),
})

const peerStats = defineGetRoute({
  ...common,
  path: '/api/v1/repldb/peers/stats/{peer}',
  doc: 'Lists the statements that the replication service runs on a peer, without literals',
  query: noQuery,
  answer: createRepldbResponseSchema(RepldbPeerStats),
  handle: respondWithQueryResult((query, { path }, call) => query.repldbPeerStats(path, call)),
})

const slotLag = definePostRoute({
  ...common,
  path: '/api/v1/repldb/peers/slots/lag_history',
  doc: 'Returns the lag of a slot over time',
  query: noQuery,
  body: RepldbSlotLagRequest,
  answer: createRepldbResponseSchema(RepldbSlotLag),
  handle: respondWithQueryResult((query, { body }, call) => query.repldbSlotLag(body, call)),
})

/** Routes of the peers of the replication service. */
export const repldbPeerRoutes: readonly Route[] = [
  peers,
  peerInfo,
  peerType,
  // `slotLag` must precede the routes with a peer name, because they could match its path.
  slotLag,
  slots,
  peerStats,
]
