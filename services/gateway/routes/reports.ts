import { formatAuditHostName } from '#proto/audit.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport, reportFormats } from '#proto/host-report.ts'
import {
  BuildReportResponse,
  BuildReportRequest,
  ReportResponse,
  ReportPath,
  ReportQuery,
  ReportsResponse,
  ReportsQuery,
} from '#proto/http/reports.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { parseRequestInput } from '../request/parse.ts'
import { defineDocumentRoute, defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { findMonitoredHost, type NamedHost, loadHostNames } from '../hosts/host-list.ts'

const common = { feature: 'INSIGHTS', limit: 'data' } as const

const list = defineGetRoute({
  ...common,
  path: '/api/v1/reports',
  doc: 'Lists stored reports on hosts, newest first',
  access: 'read',
  query: ReportsQuery,
  answer: ReportsResponse,
  handle: async ({ query: { hostId, limit }, call }, { hosts, report }) => {
    const host = hostId === undefined ? undefined : await findMonitoredHost(hosts, hostId)
    const nameOf = await loadHostNames(hosts)
    const found = await report.reports({ limit, ...(host && { hostKey: host.key }) }, call)
    const shown = found.flatMap(({ hostKey, ...summary }) => {
      const named = nameOf(hostKey)
      return named ? { ...summary, ...named } : []
    })
    return createSuccessBody(shown, { count: shown.length })
  },
})

const types = { json: 'application/json', html: 'text/html', markdown: 'text/markdown' } as const

const open = defineDocumentRoute({
  ...common,
  path: '/api/v1/reports/{id}',
  doc: 'Returns one report as JSON, as a printable page or as Markdown',
  downloads: [types.html, types.markdown],
  access: 'read',
  query: ReportQuery,
  answer: ReportResponse,
  handle: async ({ path, query, call, preferred }, { hosts, report }) => {
    const { id } = parseRequestInput(ReportPath, path)
    const format = query.format ?? formatOf(preferred(Object.values(types)))
    const nameOf = await loadHostNames(hosts)
    if (format !== 'json') return { format, text: await rendered(id, format) }
    const { report: found, delivery } = await report.hostReport({ id }, call)
    return { format, body: createSuccessBody(shown(found, hostOf(found.hostKey)), { delivery }) }

    async function rendered(request: string, as: (typeof reportFormats)[number]): Promise<string> {
      const { hostKey, text } = await report.renderReport({ id: request, format: as }, call)
      hostOf(hostKey)
      return text
    }
    function hostOf(hostKey: string): NamedHost {
      const named = nameOf(hostKey)
      if (named) return named
      throw new ServiceError('not-found', 'report not found; it may have expired')
    }
  },
})

const formatOf = (type: string | undefined): keyof typeof types => {
  if (type === types.html) return 'html'
  return type === types.markdown ? 'markdown' : 'json'
}

const build = definePostRoute({
  ...common,
  path: '/api/v1/reports',
  doc: 'Builds and stores a report on one host for any period, without sending it',
  access: 'write',
  query: noQuery,
  body: BuildReportRequest,
  answer: BuildReportResponse,
  handle: async ({ body, call, requestId }, { hosts, report, audit }) => {
    const { hostId, from, to, timezone } = body
    const host = await findMonitoredHost(hosts, hostId)
    const action = {
      action: 'build-report',
      host: formatAuditHostName(host),
      target: { from: String(from), to: String(to) },
    }
    const request = { hostKey: host.key, fromMs: from * 1_000, toMs: to * 1_000, ...(timezone && { zone: timezone }) }
    const built = await audit.of(action, { call, requestId }, () => report.buildReport(request, call))
    return createSuccessBody(shown(built, { hostId: host.id, host: host.name }), {})
  },
})

/** Removes internal keys and settings hashes, and adds the position and name of the host. */
const shown = ({ hostKey: _hostKey, settings: _settings, ...report }: HostReport, named: NamedHost) => ({
  ...report,
  ...named,
})

/** Routes of reports. */
export const reportRoutes: readonly Route[] = [list, open, build]
