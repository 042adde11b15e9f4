import {
  AlertStateResponse,
  AlertStateQuery,
  ChecksResponse,
  ChecksQuery,
  DiagnosisResponse,
  DiagnosisRequest,
  HistoryResponse,
  HistoryQuery,
  SnapshotResponse,
  SnapshotQuery,
} from '#proto/http/alerts.ts'
import type { CallContext } from '#proto/call.ts'
import { maxInboundConditions } from '#proto/inbound-conditions.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { findMonitoredHost, canSeeInstallation, loadHostNames } from '../hosts/host-list.ts'

const common = { feature: 'HEALTH', access: 'read', limit: 'data' } as const

const checks = defineGetRoute({
  ...common,
  path: '/api/v1/health/checks',
  doc: 'Lists every rule on one host with the result of its last evaluation',
  query: ChecksQuery,
  answer: ChecksResponse,
  handle: async ({ query: { hostId }, call }, { hosts, alerts }) => {
    const { key, name } = await findMonitoredHost(hosts, hostId)
    const found = await alerts.alertChecks({ hostKey: key }, call)
    return createSuccessBody(found, { count: found.length, host: name })
  },
})

const snapshot = defineGetRoute({
  ...common,
  path: '/api/v1/health/snapshot',
  doc: 'Returns a summary of the last sweep for each host',
  query: SnapshotQuery,
  answer: SnapshotResponse,
  handle: async ({ call }, { hosts, alerts }) => {
    const nameOf = await loadHostNames(hosts)
    const [{ hosts: found, sweptAtMs, isSweeping }, { open }] = await Promise.all([
      alerts.alertState({ figuresOnly: true }, call),
      alerts.inboundConditions({ limit: 0 }, call),
    ])
    const inbound = (await canSeeInstallation(hosts)) ? open : 0
    const figures = found.flatMap(({ hostKey, conditions: _, ...host }) => {
      const named = nameOf(hostKey)
      return named ? [{ ...named, ...host }] : []
    })
    return createSuccessBody(figures, { count: figures.length, sweptAtMs, isSweeping, inbound })
  },
})

const alertState = defineGetRoute({
  ...common,
  path: '/api/v1/health/alert-state',
  doc: 'Lists open conditions of one host or of all, since when they are open, and who was notified',
  query: AlertStateQuery,
  answer: AlertStateResponse,
  handle: async ({ query: { hostId }, call }, { hosts, alerts, query }) => {
    const hostKey = await keyOf(hosts, hostId)
    const causesOf = await loadCauses(query, call)
    const [nameOf, { hosts: found, ...sweep }] = [
      await loadHostNames(hosts),
      await alerts.alertState({ hostKey }, call),
    ]
    const ofHosts = found.flatMap((host) => {
      const named = nameOf(host.hostKey)
      return named
        ? host.conditions.map((condition) => ({
            ...named,
            ...condition,
            causes: causesOf(condition.ruleId),
            source: null,
          }))
        : []
    })
    const isAll = hostKey === undefined && (await canSeeInstallation(hosts))
    const inbound = isAll ? await readInbound(maxInboundConditions - ofHosts.length, alerts, call) : noInbound
    const conditions = [...ofHosts, ...inbound.shown]
    const truncated = sweep.truncated || inbound.truncated
    return createSuccessBody(conditions, { count: conditions.length, ...sweep, truncated })
  },
})

/** Returns the page with the causing queries by rule. Without the service `query`, conditions have no such page. */
const loadCauses = async (query: Gateway['query'], call: CallContext) => {
  const rules = await query.rules({}, call).then(
    (found) => found.rules,
    () => [],
  )
  const byId = new Map(rules.map((rule) => [rule.id, rule]))
  return (ruleId: string) => {
    const { href, lastMinutes } = byId.get(ruleId) ?? {}
    return href === undefined ? null : { path: href, minutes: lastMinutes ?? null }
  }
}

const noInbound = { shown: [], truncated: false }

/** Returns at most `room` inbound conditions, which belong to no host, and whether there are more. */
const readInbound = async (room: number, alerts: Gateway['alerts'], call: CallContext) => {
  const { conditions, open } = await alerts.inboundConditions({ limit: Math.max(room, 0) }, call)
  const shown = conditions.map((condition) => ({ hostId: null, host: condition.source, ...condition }))
  return { shown, truncated: open > shown.length }
}

const keyOf = async (hosts: Gateway['hosts'], hostId: number | undefined): Promise<string | undefined> =>
  hostId === undefined ? undefined : (await findMonitoredHost(hosts, hostId)).key

const history = defineGetRoute({
  ...common,
  path: '/api/v1/health/history',
  doc: 'Lists the history of conditions, newest first: who was notified, and why a notification was not sent',
  query: HistoryQuery,
  answer: HistoryResponse,
  handle: async ({ query: { hostId, day, limit }, call }, { hosts, alerts, query }) => {
    const hostKey = await keyOf(hosts, hostId)
    const causesOf = await loadCauses(query, call)
    const nameOf = await loadHostNames(hosts)
    const lines = await alerts.alertHistory({ hostKey, ...day, limit }, call)
    const shown = lines.flatMap(({ hostKey, ...line }) => {
      const named = hostKey === null ? { hostId: null, host: null } : nameOf(hostKey)
      return named ? [{ ...line, ...named, causes: causesOf(line.ruleId) }] : []
    })
    return createSuccessBody(shown, { count: shown.length })
  },
})

const diagnose = definePostRoute({
  ...common,
  path: '/api/v1/health/actions',
  doc: 'Returns at most 50 rows that explain a rule on one host',
  query: SnapshotQuery,
  body: DiagnosisRequest,
  answer: DiagnosisResponse,
  handle: async ({ body: { hostId, ruleId }, call }, { hosts, query }) => {
    const { key, name } = await findMonitoredHost(hosts, hostId)
    const { unavailable, ...diagnosis } = await query.diagnoseRule({ hostKey: key, rule: ruleId }, call)
    return createSuccessBody(diagnosis, { host: name, unavailable })
  },
})

/** Routes of checks, conditions and their history. */
export const healthStateRoutes: readonly Route[] = [checks, snapshot, alertState, history, diagnose]
