import { hostOnRecord } from '#proto/audit.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport, reportFormats } from '#proto/host-report.ts'
import {
  BuildReportAnswer,
  BuildReportRequest,
  ReportAnswer,
  ReportPath,
  ReportQuery,
  ReportsAnswer,
  ReportsQuery,
} from '#proto/http/reports.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { parse } from '../request/parse.ts'
import { documentRoute, getRoute, postRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'
import { findWatched, type NamedHost, watchedHosts } from '../hosts/host-list.ts'

const common = { feature: 'INSIGHTS', limit: 'data' } as const

const list = getRoute({
  ...common,
  path: '/api/v1/reports',
  doc: 'Reports on hosts that are kept, the newest first',
  access: 'read',
  query: ReportsQuery,
  answer: ReportsAnswer,
  handle: async ({ query: { hostId, limit }, call }, { hosts, report }) => {
    const host = hostId === undefined ? undefined : await findWatched(hosts, hostId)
    const nameOf = await watchedHosts(hosts)
    const found = await report.reports({ limit, ...(host && { hostKey: host.key }) }, call)
    const shown = found.flatMap(({ hostKey, ...listed }) => {
      const named = nameOf(hostKey)
      return named ? { ...listed, ...named } : []
    })
    return success(shown, { count: shown.length })
  },
})

const types = { json: 'application/json', html: 'text/html', markdown: 'text/markdown' } as const

const open = documentRoute({
  ...common,
  path: '/api/v1/reports/{id}',
  doc: 'One report, as JSON, as a page that can be printed, or as Markdown',
  downloads: [types.html, types.markdown],
  access: 'read',
  query: ReportQuery,
  answer: ReportAnswer,
  handle: async ({ path, query, call, preferred }, { hosts, report }) => {
    const { id } = parse(ReportPath, path)
    const format = query.format ?? formatOf(preferred(Object.values(types)))
    const nameOf = await watchedHosts(hosts)
    if (format !== 'json') return { format, text: await rendered(id, format) }
    const { report: found, delivery } = await report.hostReport({ id }, call)
    return { format, body: success(shown(found, hostOf(found.hostKey)), { delivery }) }

    async function rendered(asked: string, as: (typeof reportFormats)[number]): Promise<string> {
      const { hostKey, text } = await report.renderReport({ id: asked, format: as }, call)
      hostOf(hostKey)
      return text
    }
    function hostOf(hostKey: string): NamedHost {
      const named = nameOf(hostKey)
      if (named) return named
      throw new ServiceError('not-found', 'no such report; it may have been removed as old')
    }
  },
})

const formatOf = (type: string | undefined): keyof typeof types => {
  if (type === types.html) return 'html'
  return type === types.markdown ? 'markdown' : 'json'
}

const build = postRoute({
  ...common,
  path: '/api/v1/reports',
  doc: 'Writes a report on one host and any period, and keeps it; nobody is told',
  access: 'write',
  query: noQuery,
  body: BuildReportRequest,
  answer: BuildReportAnswer,
  handle: async ({ body, call, requestId }, { hosts, report, audit }) => {
    const { hostId, from, to, timezone } = body
    const host = await findWatched(hosts, hostId)
    const deed = { action: 'build-report', host: hostOnRecord(host), target: { from: String(from), to: String(to) } }
    const asked = { hostKey: host.key, fromMs: from * 1_000, toMs: to * 1_000, ...(timezone && { zone: timezone }) }
    const built = await audit.of(deed, { call, requestId }, () => report.buildReport(asked, call))
    return success(shown(built, { hostId: host.id, host: host.name }), {})
  },
})

/** Keys and hashes of settings stay inside; callers know hosts by their position and name. */
const shown = ({ hostKey: _hostKey, settings: _settings, ...report }: HostReport, named: NamedHost) => ({
  ...report,
  ...named,
})

/** How hosts fared. */
export const reportRoutes: readonly Route[] = [list, open, build]
