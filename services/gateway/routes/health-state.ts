import {
  AlertStateAnswer,
  AlertStateQuery,
  ChecksAnswer,
  ChecksQuery,
  DiagnosisAnswer,
  DiagnosisRequest,
  HistoryAnswer,
  HistoryQuery,
  SnapshotAnswer,
  SnapshotQuery,
} from '#proto/http/alerts.ts'
import type { Call } from '#proto/call.ts'
import { mostInbound } from '#proto/inbound-conditions.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'
import { findWatched, hearsOfInstallation, watchedHosts } from '../hosts/host-list.ts'

const common = { feature: 'HEALTH', access: 'read', limit: 'data' } as const

const checks = getRoute({
  ...common,
  path: '/api/v1/health/checks',
  doc: 'Every rule on one host, as the last sweep that asked found it',
  query: ChecksQuery,
  answer: ChecksAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, alerts }) => {
    const { key, name } = await findWatched(hosts, hostId)
    const found = await alerts.alertChecks({ hostKey: key }, call)
    return success(found, { count: found.length, host: name })
  },
})

const snapshot = getRoute({
  ...common,
  path: '/api/v1/health/snapshot',
  doc: 'What the last sweep found on each host, in a few figures',
  query: SnapshotQuery,
  answer: SnapshotAnswer,
  handle: async ({ call }, { hosts, alerts }) => {
    const nameOf = await watchedHosts(hosts)
    const [{ hosts: found, sweptAtMs, isSweeping }, { open }] = await Promise.all([
      alerts.alertState({ figuresOnly: true }, call),
      alerts.inboundConditions({ limit: 0 }, call),
    ])
    const inbound = (await hearsOfInstallation(hosts)) ? open : 0
    const figures = found.flatMap(({ hostKey, conditions: _, ...host }) => {
      const named = nameOf(hostKey)
      return named ? [{ ...named, ...host }] : []
    })
    return success(figures, { count: figures.length, sweptAtMs, isSweeping, inbound })
  },
})

const alertState = getRoute({
  ...common,
  path: '/api/v1/health/alert-state',
  doc: 'What is not ok on one host or on all, since when, and who was told',
  query: AlertStateQuery,
  answer: AlertStateAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, alerts }) => {
    const hostKey = await keyOf(hosts, hostId)
    const [nameOf, { hosts: found, ...swept }] = [await watchedHosts(hosts), await alerts.alertState({ hostKey }, call)]
    const ofHosts = found.flatMap((host) => {
      const named = nameOf(host.hostKey)
      return named ? host.conditions.map((condition) => ({ ...named, ...condition, source: null })) : []
    })
    const isAll = hostKey === undefined && (await hearsOfInstallation(hosts))
    const inbound = isAll ? await inboundIn(mostInbound - ofHosts.length, alerts, call) : none
    const conditions = [...ofHosts, ...inbound.shown]
    const truncated = swept.truncated || inbound.truncated
    return success(conditions, { count: conditions.length, ...swept, truncated })
  },
})

const none = { shown: [], truncated: false }

/** What inbound events began, as far as there is room for it: it is on no host. */
const inboundIn = async (room: number, alerts: Gateway['alerts'], call: Call) => {
  const { conditions, open } = await alerts.inboundConditions({ limit: Math.max(room, 0) }, call)
  const shown = conditions.map((condition) => ({ hostId: null, host: condition.source, ...condition }))
  return { shown, truncated: open > shown.length }
}

const keyOf = async (hosts: Gateway['hosts'], hostId: number | undefined): Promise<string | undefined> =>
  hostId === undefined ? undefined : (await findWatched(hosts, hostId)).key

const history = getRoute({
  ...common,
  path: '/api/v1/health/history',
  doc: 'What became of conditions, the newest first: who was told, of what nobody was told, and why',
  query: HistoryQuery,
  answer: HistoryAnswer,
  handle: async ({ query: { hostId, day, limit }, call }, { hosts, alerts }) => {
    const hostKey = await keyOf(hosts, hostId)
    const nameOf = await watchedHosts(hosts)
    const lines = await alerts.alertHistory({ hostKey, ...day, limit }, call)
    const shown = lines.flatMap(({ hostKey, ...line }) => {
      const named = hostKey === null ? { hostId: null, host: null } : nameOf(hostKey)
      return named ? [{ ...line, ...named }] : []
    })
    return success(shown, { count: shown.length })
  },
})

const diagnose = postRoute({
  ...common,
  path: '/api/v1/health/actions',
  doc: 'The rows that explain a rule on one host, 50 at most',
  query: SnapshotQuery,
  body: DiagnosisRequest,
  answer: DiagnosisAnswer,
  handle: async ({ body: { hostId, ruleId }, call }, { hosts, query }) => {
    const { key, name } = await findWatched(hosts, hostId)
    const { unavailable, ...diagnosis } = await query.diagnoseRule({ hostKey: key, rule: ruleId }, call)
    return success(diagnosis, { host: name, unavailable })
  },
})

/** What was found, and what became of it. */
export const healthStateRoutes: readonly Route[] = [checks, snapshot, alertState, history, diagnose]
