import { formatAuditHostName } from '#proto/audit.ts'
import { AdviceResponse, AdviceRequest } from '#proto/http/advice.ts'
import {
  AnomaliesResponse,
  DismissInsightResponse,
  DismissInsightRequest,
  FindingsResponse,
  FindingsQuery,
  ForecastResponse,
  GenerateInsightsResponse,
  GenerateInsightsRequest,
  InsightBackendResponse,
  InsightsResponse,
  InsightsQuery,
  InsightStatusResponse,
  type InsightView,
} from '#proto/http/insights.ts'
import { HostQuery, noQuery } from '#proto/http/parameters.ts'
import { StructureAdviceResponse, TableAdviceRequest } from '#proto/http/structure-advice.ts'
import type { Insight } from '#proto/insights.ts'
import type { Host } from '#proto/query.ts'
import { findMonitoredHost } from '../hosts/host-list.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const reading = { feature: 'INSIGHTS', access: 'read', limit: 'data' } as const
const writing = { feature: 'INSIGHTS', access: 'write', limit: 'data', query: noQuery } as const

const insights = defineGetRoute({
  ...reading,
  path: '/api/v1/insights',
  doc: 'Lists the insights of a host with their evidence, newest first',
  query: InsightsQuery,
  answer: InsightsResponse,
  handle: async ({ query: { hostId, ...filter }, call }, { hosts, report }) => {
    const host = await findMonitoredHost(hosts, hostId)
    const found = await report.insights({ hostKey: host.key, ...filter }, call)
    return createSuccessBody(found.map(shown(host)), { count: found.length })
  },
})

const findings = defineGetRoute({
  ...reading,
  path: '/api/v1/findings',
  doc: 'Lists recent findings of a host, from its insights',
  query: FindingsQuery,
  answer: FindingsResponse,
  handle: async ({ query: { host: id, ...filter }, call }, { hosts, report }) => {
    const host = await hosts.find(id, 'host')
    const insights = await report.insights({ hostKey: host.key, ...filter }, call)
    const [found, count] = [insights.map(shown(host)), insights.length]
    return { ...createSuccessBody(found, { count }), findings: found, count }
  },
})

const backend = defineGetRoute({
  ...reading,
  path: '/api/v1/insights/backend',
  doc: 'Returns where insights are stored',
  query: noQuery,
  answer: InsightBackendResponse,
  handle: async ({ call }, { report }) => report.insightBackend({}, call),
})

const status = defineGetRoute({
  ...reading,
  path: '/api/v1/insights/status',
  doc: 'Returns where insights are stored and why, and the result of the last scan of a host',
  query: HostQuery,
  answer: InsightStatusResponse,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey } = await findMonitoredHost(hosts, hostId)
    return createSuccessBody(await report.insightStatus({ hostKey }, call), {})
  },
})

const forecast = defineGetRoute({
  ...reading,
  path: '/api/v1/insights/forecast',
  doc: 'Forecasts when the disks of a host are full and when it rejects inserts, as ranges',
  query: HostQuery,
  answer: ForecastResponse,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey } = await hosts.find(hostId)
    const { forecasts, ...rest } = await report.forecast({ hostKey }, call)
    return createSuccessBody(forecasts, rest)
  },
})

const anomalies = defineGetRoute({
  ...reading,
  path: '/api/v1/insights/anomalies',
  doc: 'Detects current anomalies of a host without storing them',
  query: HostQuery,
  answer: AnomaliesResponse,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const host = await hosts.find(hostId)
    const { anomalies: found, notes } = await report.anomalies({ hostKey: host.key }, call)
    return createSuccessBody(found.map(shown(host)), { notes })
  },
})

const generate = definePostRoute({
  ...writing,
  path: '/api/v1/insights/generate',
  doc: 'Scans a host for insights; within five minutes of the last scan only when forced',
  body: GenerateInsightsRequest,
  answer: GenerateInsightsResponse,
  handle: async ({ body: { hostId, force }, call }, { hosts, report }) => {
    const host = await findMonitoredHost(hosts, hostId)
    const { insights: found, ...rest } = await report.generateInsights({ hostKey: host.key, force }, call)
    return createSuccessBody(found.map(shown(host)), { count: found.length, ...rest })
  },
})

const dismiss = definePostRoute({
  ...writing,
  path: '/api/v1/insights/dismiss',
  doc: 'Dismisses an insight, or restores it',
  body: DismissInsightRequest,
  answer: DismissInsightResponse,
  handle: async ({ body: { hostId, id, dismissed }, call, requestId }, { hosts, report, audit }) => {
    const host = await findMonitoredHost(hosts, hostId)
    const name = dismissed ? 'dismiss-insight' : 'show-insight'
    const action = { action: name, host: formatAuditHostName(host), target: { insight: id } }
    const insight = await audit.of(action, { call, requestId }, () =>
      report.dismissInsight({ hostKey: host.key, id, dismissed }, call),
    )
    return createSuccessBody(shown(host)(insight), {})
  },
})

/** Replaces the host key, which is internal, by position and name, and adds the host to the link. */
const shown =
  ({ id: hostId, name: host }: Host) =>
  ({ hostKey: _hostKey, link, ...insight }: Insight): InsightView => ({
    ...insight,
    link: link === '' ? null : `${link}${link.includes('?') ? '&' : '?'}host=${hostId}`,
    hostId,
    host,
  })

/** Routes of insights. */
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

export const adviceRoute = definePostRoute({
  path: '/api/v1/advice',
  doc: 'Recommends optimizations of one statement, ranked by benefit and cost; nothing is changed',
  feature: 'QUERIES',
  // Write access, because the benefit is measured by running conditions of the caller on the data.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: AdviceRequest,
  answer: AdviceResponse,
  handle: async ({ body: { hostId, ...request }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const { recommendations, notes } = await gateway.report.advise({ hostKey: key, ...request }, call)
    return createSuccessBody(recommendations, { host: name, notes })
  },
})

const tableAdvice = definePostRoute({
  path: '/api/v1/advice/table',
  doc: 'Recommends types, codecs, keys and TTL for a table; the table is not changed',
  feature: 'TABLES',
  // Write access, because codecs are measured by copying up to a million rows to a temporary table.
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: TableAdviceRequest,
  answer: StructureAdviceResponse,
  handle: async ({ body: { hostId, ...request }, call, requestId }, { hosts, report, audit }) => {
    const host = await hosts.find(hostId)
    const advise = () => report.adviseTable({ hostKey: host.key, ...request }, call)
    const { database, table, measure } = request
    const action = { action: 'measure-codecs', host: formatAuditHostName(host), target: { database, table } }
    const { recommendations, notes } = measure ? await audit.of(action, { call, requestId }, advise) : await advise()
    return createSuccessBody(recommendations, { host: host.name, notes })
  },
})

const hostAdvice = defineGetRoute({
  path: '/api/v1/advice/host',
  doc: 'Recommends settings for the hardware of a host, and reports what a later release would change',
  feature: 'SETTINGS',
  access: 'read',
  limit: 'data',
  query: HostQuery,
  answer: StructureAdviceResponse,
  handle: async ({ query: { hostId }, call }, { hosts, report }) => {
    const { key: hostKey, name: host } = await hosts.find(hostId)
    const { recommendations, notes } = await report.adviseHost({ hostKey }, call)
    return createSuccessBody(recommendations, { host, notes })
  },
})

/** Routes of advice on tables and hosts. */
export const structureAdviceRoutes: readonly Route[] = [tableAdvice, hostAdvice]
