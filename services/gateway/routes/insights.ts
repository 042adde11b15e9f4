import { hostOnRecord } from '#proto/audit.ts'
import { AdviceAnswer, AdviceRequest } from '#proto/http/advice.ts'
import {
  AnomaliesAnswer,
  DismissInsightAnswer,
  DismissInsightRequest,
  FindingsAnswer,
  FindingsQuery,
  ForecastAnswer,
  GenerateInsightsAnswer,
  GenerateInsightsRequest,
  InsightBackendAnswer,
  InsightsAnswer,
  InsightsQuery,
  InsightStatusAnswer,
  type ShownInsight,
} from '#proto/http/insights.ts'
import { HostQuery, noQuery } from '#proto/http/parameters.ts'
import { StructureAdviceAnswer, TableAdviceRequest } from '#proto/http/structure-advice.ts'
import type { Insight } from '#proto/insights.ts'
import type { Host } from '#proto/query.ts'
import { findWatched } from '../hosts/host-list.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const reading = { feature: 'INSIGHTS', access: 'read', limit: 'data' } as const
const writing = { feature: 'INSIGHTS', access: 'write', limit: 'data', query: noQuery } as const

const insights = getRoute({
  ...reading,
  path: '/api/v1/insights',
  doc: 'What is worth knowing about a host, with what it rests on; the newest first',
  query: InsightsQuery,
  answer: InsightsAnswer,
  handle: async ({ query: { hostId, ...filter }, call }, { hosts, report }) => {
    const host = await findWatched(hosts, hostId)
    const found = await report.insights({ hostKey: host.key, ...filter }, call)
    return success(found.map(shown(host)), { count: found.length })
  },
})

const findings = getRoute({
  ...reading,
  path: '/api/v1/findings',
  doc: 'What was found about a host lately, as the insights have it',
  query: FindingsQuery,
  answer: FindingsAnswer,
  handle: async ({ query: { host: id, ...filter }, call }, { hosts, report }) => {
    const host = await hosts.find(id, 'host')
    const found = await report.insights({ hostKey: host.key, ...filter }, call)
    return { findings: found.map(shown(host)), count: found.length }
  },
})

const backend = getRoute({
  ...reading,
  path: '/api/v1/insights/backend',
  doc: 'Where insights are kept',
  query: noQuery,
  answer: InsightBackendAnswer,
  handle: async ({ call }, { report }) => report.insightBackend({}, call),
})

const status = getRoute({
  ...reading,
  path: '/api/v1/insights/status',
  doc: 'Where insights are kept, why not elsewhere, and what came of the last look at a host',
  query: HostQuery,
  answer: InsightStatusAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey } = await findWatched(hosts, hostId)
    return success(await report.insightStatus({ hostKey }, call), {})
  },
})

const forecast = getRoute({
  ...reading,
  path: '/api/v1/insights/forecast',
  doc: 'When the disks of a host are full and when it refuses inserts, as ranges',
  query: HostQuery,
  answer: ForecastAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey } = await hosts.find(hostId)
    const { forecasts, ...rest } = await report.forecast({ hostKey }, call)
    return success(forecasts, rest)
  },
})

const anomalies = getRoute({
  ...reading,
  path: '/api/v1/insights/anomalies',
  doc: 'What is not as usual on a host now; nothing is kept',
  query: HostQuery,
  answer: AnomaliesAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const host = await hosts.find(hostId)
    const { anomalies: found, notes } = await report.anomalies({ hostKey: host.key }, call)
    return success(found.map(shown(host)), { notes })
  },
})

const generate = postRoute({
  ...writing,
  path: '/api/v1/insights/generate',
  doc: 'Looks for insights on a host now; within five minutes of the last time only when forced',
  body: GenerateInsightsRequest,
  answer: GenerateInsightsAnswer,
  handle: async ({ body: { hostId, force }, call }, { hosts, report }) => {
    const host = await findWatched(hosts, hostId)
    const { insights: found, ...rest } = await report.generateInsights({ hostKey: host.key, force }, call)
    return success(found.map(shown(host)), { count: found.length, ...rest })
  },
})

const dismiss = postRoute({
  ...writing,
  path: '/api/v1/insights/dismiss',
  doc: 'Hides an insight from lists, or shows it again',
  body: DismissInsightRequest,
  answer: DismissInsightAnswer,
  handle: async ({ body: { hostId, id, dismissed }, call, requestId }, { hosts, report, audit }) => {
    const host = await findWatched(hosts, hostId)
    const action = dismissed ? 'dismiss-insight' : 'show-insight'
    const deed = { action, host: hostOnRecord(host), target: { insight: id } }
    const insight = await audit.of(deed, { call, requestId }, () =>
      report.dismissInsight({ hostKey: host.key, id, dismissed }, call),
    )
    return success(shown(host)(insight), {})
  },
})

/** Keys stay inside; callers know hosts by their position and name, and links lead to the page of that host. */
const shown =
  ({ id: hostId, name: host }: Host) =>
  ({ hostKey: _hostKey, link, ...insight }: Insight): ShownInsight => ({
    ...insight,
    link: link === '' ? null : `${link}${link.includes('?') ? '&' : '?'}host=${hostId}`,
    hostId,
    host,
  })

/** What is worth knowing about hosts. */
export const insightRoutes: readonly Route[] = [
  insights,
  findings,
  backend,
  status,
  forecast,
  anomalies,
  generate,
  dismiss,
]

export const advice = postRoute({
  path: '/api/v1/advice',
  doc: 'What would make one statement cheaper: ranked, with what it would save and what it costs; nothing is changed',
  feature: 'QUERIES',
  // Savings are tried out on the data, with conditions of the caller's own.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: AdviceRequest,
  answer: AdviceAnswer,
  handle: async ({ body: { hostId, ...asked }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { recommendations, notes } = await gateway.report.advise({ hostKey: key, ...asked }, call)
    return success(recommendations, { host: name, notes })
  },
})

const tableAdvice = postRoute({
  path: '/api/v1/advice/table',
  doc: 'What would keep a table smaller or make it faster to read: types, codecs, key and TTL; nothing of it is changed',
  feature: 'TABLES',
  // The first million rows are read for it, and may be written into a temporary table.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: TableAdviceRequest,
  answer: StructureAdviceAnswer,
  handle: async ({ body: { hostId, ...asked }, call, requestId }, { hosts, report, audit }) => {
    const host = await hosts.find(hostId)
    const advise = () => report.adviseTable({ hostKey: host.key, ...asked }, call)
    const { database, table, measure } = asked
    const deed = { action: 'measure-codecs', host: hostOnRecord(host), target: { database, table } }
    const { recommendations, notes } = measure ? await audit.of(deed, { call, requestId }, advise) : await advise()
    return success(recommendations, { host: host.name, notes })
  },
})

const hostAdvice = getRoute({
  path: '/api/v1/advice/host',
  doc: 'Settings of a host that do not suit its hardware, and what a later release would change',
  feature: 'SETTINGS',
  access: 'read',
  limit: 'data',
  query: HostQuery,
  answer: StructureAdviceAnswer,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey, name: host } = await hosts.find(hostId)
    const { recommendations, notes } = await report.adviseHost({ hostKey }, call)
    return success(recommendations, { host, notes })
  },
})

/** Advice on how data is kept and hosts are set up. */
export const structureAdviceRoutes: readonly Route[] = [tableAdvice, hostAdvice]
