import type { Call } from '#proto/call.ts'
import { noQuery } from '#proto/http/parameters.ts'
import {
  repldbAnswer,
  RepldbPeerInfo,
  RepldbPeers,
  RepldbPeerStats,
  RepldbPeerType,
  RepldbSlotLag,
  RepldbSlotLagRequest,
  RepldbSlots,
} from '#proto/http/repldb.ts'
import type { Gateway } from '../gateway.ts'
import { success } from '../response/envelope.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'

const common = { feature: 'REPLDB', access: 'read', limit: 'data' } as const

/** Answers with what `query` tells, as it tells it. */
export const told =
  <G extends { call: Call }, D>(ask: (query: Gateway['query'], asked: G, call: Call) => Promise<D>) =>
  async (asked: G, gateway: Gateway) =>
    success(await ask(gateway.query, asked, asked.call), {})

const peers = getRoute({
  ...common,
  path: '/api/v1/repldb/peers/list',
  doc: 'Peers: the databases that the replication service reads and writes',
  query: noQuery,
  answer: repldbAnswer(RepldbPeers),
  handle: told((query, _asked, call) => query.repldbPeers({}, call)),
})

const peerInfo = getRoute({
  ...common,
  path: '/api/v1/repldb/peers/info/{peer}',
  doc: 'Kind and version of a peer, and never how it is reached',
  query: noQuery,
  answer: repldbAnswer(RepldbPeerInfo),
  handle: told((query, { path }, call) => query.repldbPeerInfo(path, call)),
})

const peerType = getRoute({
  ...common,
  path: '/api/v1/repldb/peers/type/{peer}',
  doc: 'Kind of a peer',
  query: noQuery,
  answer: repldbAnswer(RepldbPeerType),
  handle: told((query, { path }, call) => query.repldbPeerType(path, call)),
})

const slots = getRoute({
  ...common,
  path: '/api/v1/repldb/peers/slots/{peer}',
  doc: 'Replication slots of a peer',
  query: noQuery,
  answer: repldbAnswer(RepldbSlots),
  handle: told((query, { path }, call) => query.repldbSlots(path, call)),
})

const peerStats = getRoute({
  ...common,
  path: '/api/v1/repldb/peers/stats/{peer}',
  doc: 'What the replication service runs on a peer now, without literals',
  query: noQuery,
  answer: repldbAnswer(RepldbPeerStats),
  handle: told((query, { path }, call) => query.repldbPeerStats(path, call)),
})

const slotLag = postRoute({
  ...common,
  path: '/api/v1/repldb/peers/slots/lag_history',
  doc: 'How far a slot was behind, by time',
  query: noQuery,
  body: RepldbSlotLagRequest,
  answer: repldbAnswer(RepldbSlotLag),
  handle: told((query, { body }, call) => query.repldbSlotLag(body, call)),
})

/** What the replication service says of the databases that it reads and writes. */
export const repldbPeerRoutes: readonly Route[] = [
  peers,
  peerInfo,
  peerType,
  // Before that of the peers, one of which could have its name.
  slotLag,
  slots,
  peerStats,
]
