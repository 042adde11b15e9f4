import { z } from 'zod'
import {
  RepldbBatches,
  RepldbGraph,
  RepldbInitialLoad,
  RepldbLogs,
  RepldbMirrorNames,
  RepldbMirrors,
  RepldbMirrorStatus,
  RepldbPeerInfo,
  RepldbPeers,
  RepldbPeerStats,
  RepldbPeerType,
  RepldbRowsSynced,
  RepldbSettings,
  RepldbSlotLag,
  RepldbSlots,
  RepldbTableCounts,
  RepldbVersion,
} from '#proto/repldb-api.ts'

/** A point of a lag history, with current and older field names. */
const Point = z.looseObject({
  time: z.number().optional(),
  updatedAt: z.number().optional(),
  size: z.number().optional(),
  slotSize: z.number().optional(),
})
const History = z.object({ data: z.array(Point) })

/** Normalizes the field names of points and sorts them by time; the service sends them in any order. */
const slotLagPoints = (answer: unknown): unknown => {
  const history = History.safeParse(answer)
  if (!history.success) return answer
  const points = history.data.data.flatMap((point) => {
    const time = point.time ?? point.updatedAt
    const size = point.size ?? point.slotSize
    return time === undefined || size === undefined ? [] : [{ ...point, time, size }]
  })
  return { data: points.toSorted((one, other) => one.time - other.time) }
}

/** An endpoint of the replication service, with the schema of its response. */
export interface ReplicationEndpoint<S extends z.ZodType = z.ZodType> {
  method: 'GET' | 'POST'
  /** The path below `/v1/`; `{name}` is a mirror or a peer. */
  path: string
  answer: S
}

const get = <S extends z.ZodType>(path: string, answer: S): ReplicationEndpoint<S> => ({ method: 'GET', path, answer })
/** Returns an endpoint that only reads, although it uses POST. */
const post = <S extends z.ZodType>(path: string, answer: S): ReplicationEndpoint<S> => ({
  method: 'POST',
  path,
  answer,
})

/** All permitted endpoints. None of them changes anything. */
export const replicationEndpoints = {
  version: get('version', RepldbVersion),
  settings: get('dynamic_settings', RepldbSettings),
  mirrors: get('mirrors/list', RepldbMirrors),
  mirrorNames: get('mirrors/names', RepldbMirrorNames),
  tableCounts: get('mirrors/cdc/table_total_counts/{name}', RepldbTableCounts),
  initialLoad: get('mirrors/cdc/initial_load/{name}', RepldbInitialLoad),
  rowsSynced: get('mirrors/total_rows_synced/{name}', RepldbRowsSynced),
  mirrorStatus: post('mirrors/status', RepldbMirrorStatus),
  graph: post('mirrors/cdc/graph', RepldbGraph),
  batches: post('mirrors/cdc/batches', RepldbBatches),
  logs: post('mirrors/logs', RepldbLogs),
  peers: get('peers/list', RepldbPeers),
  peerInfo: get('peers/info/{name}', RepldbPeerInfo),
  peerType: get('peers/type/{name}', RepldbPeerType),
  slots: get('peers/slots/{name}', RepldbSlots),
  peerStats: get(
    'peers/stats/{name}',
    RepldbPeerStats.transform(({ statData }) => ({
      statData: statData.map((running) => ({ ...running, query: maskLiterals(running.query) })),
    })),
  ),
  slotLag: post('peers/slots/lag_history', z.preprocess(slotLagPoints, RepldbSlotLag)),
} as const

/** Matches string literals, comments and numbers in one pass, because one may contain the start of another. */
const literal =
  /\$(?<tag>[A-Za-z_]\w*)?\$.*?(?:\$\k<tag>\$|$)|(?:\b[EBXN])?'(?:[^'\\]|''|\\.)*(?:'|$)|"(?:[^"]|"")*"|--[^\n]*|\/\*.*?(?:\*\/|$)|(?<![\w.$])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])/gis

/** Replaces literals and comments of a statement by `?`, because they may contain personal data. */
export const maskLiterals = (statement: string): string =>
  statement.replaceAll(literal, (found) => (found.startsWith('"') ? found : '?'))
