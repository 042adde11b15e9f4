import type { Logger } from 'pino'
import type { agent } from '#proto/agent.ts'
import type { alerts } from '#proto/alerts.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport, ReportDeliveryStatus } from '#proto/host-report.ts'
import type { Announcement } from '#proto/announcements.ts'
import type { Host } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { shortenText } from '#shared/text/strings.ts'
import { formatPercent } from '../format.ts'
import { forEachHost, createServiceCall } from '../background-tasks.ts'
import { assembleReport, type ReportSources } from './assemble-report.ts'
import { findLastWeek, type ReportWeek } from './report-data.ts'
import { createReportDocument } from './render/create-document.ts'
import { renderPlainText } from './render/markdown.ts'
import { reportSettings, getReportZone } from './settings.ts'
import type { ReportStore } from './store.ts'
import { createReportId } from './write-report.ts'

/** Maximum length of the report text that the model receives, in characters. */
const maxTextLength = 60_000
const maxSummaryLength = 1_200

/**
 * Generates a summary with the language model. Returns null if no model is configured, the model fails, or the summary
 * is invalid.
 */
const generateSummary = async (
  { agent: client, log }: { agent: ServiceClient<typeof agent>; log: Logger },
  report: HostReport,
  call: CallContext,
): Promise<string | null> => {
  const text = shortenText(renderPlainText(createReportDocument(report)), maxTextLength)
  try {
    const { summary } = await client.summarize({ text }, call)
    const oneLine = summary.replaceAll(/\s+/g, ' ').trim()
    const problem = findSummaryProblem(oneLine, text)
    if (problem === undefined) return oneLine
    log.warn({ hostKey: report.hostKey, problem }, 'report summary rejected')
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, details } = error
    if (details?.reason !== 'provider-not-configured')
      log.warn({ hostKey: report.hostKey, code }, 'report summary failed')
  }
  return null
}

/** Returns why a summary is rejected; undefined if it is valid. */
export const findSummaryProblem = (summary: string, report: string): string | undefined => {
  if (summary === '' || summary.length > maxSummaryLength) return 'length'
  // Names and queries of the host can contain prompt injections, so links and markup are not allowed.
  if (/[<>[\]]|:\/\/|www\./i.test(summary)) return 'markup'
  if (spelledOutNumber.test(summary)) return 'figures in words'
  const known = new Set(extractFigures(report))
  return extractFigures(summary).every((figure) => known.has(figure)) ? undefined : 'figures'
}

/** Matches spelled-out numbers, which cannot be compared with the report. */
const spelledOutNumber =
  /\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|fifty|hundreds?|thousands?|millions?|billions?|twice|doubled?|tripled?|half|halved|thirds?|quarters?)\b/i

/** Returns the numbers in a text, with their units. */
const extractFigures = (text: string): string[] =>
  [...text.matchAll(/\d[\d.,:]*(?:\s?(?:%|[KMGTP]iB\b|B\b|s\b|minutes\b|hours\b|days\b))?/g)].map(([figure]) =>
    figure.replaceAll(/\s/g, '').replaceAll(/[.,:]+(?=\D|$)/g, ''),
  )

/** The dependencies of weekly reports. */
export interface WeeklyReportDeps extends ReportSources {
  env: Environment
  store: Store
  reports: ReportStore
  log: Logger
  agent: ServiceClient<typeof agent>
}

/** The numbers of reports that a run wrote and delivered. */
interface RunResult {
  written: number
  delivered: number
}

const leaseName = 'reports:weekly'
/** Duration of the lease in milliseconds, longer than a run. Even if two runs overlap, each report is written once. */
const leaseMs = 15 * 60_000

/** Writes the missing reports of the last week for the configured hosts, and delivers all undelivered ones. */
export const writeWeeklyReports = async (deps: WeeklyReportDeps, signal: AbortSignal): Promise<RunResult> => {
  await using lease = await deps.store.lease(leaseName, leaseMs)
  if (!lease) return { written: 0, delivered: 0 }
  const { clock, env, log } = deps
  const { SVC_WEEKLY_REPORT_HOSTS: positions } = parseSettings(reportSettings, env)
  const zone = getReportZone(env)
  if (positions.length === 0) return { written: 0, delivered: 0 }
  const week = findLastWeek(clock.now(), zone)
  const hosts = await deps.query.hosts({}, createServiceCall(deps, signal))
  const missing = positions.filter((position) => !hosts.some(({ id }) => id === position))
  if (missing.length > 0) log.warn({ positions: missing }, 'SVC_WEEKLY_REPORT_HOSTS names unknown hosts')
  const sum: RunResult = { written: 0, delivered: 0 }
  const chosen = hosts.filter(({ id }) => positions.includes(id))
  await forEachHost(chosen, async (host) => {
    signal.throwIfAborted()
    const { written, delivered } = await reportOnHostSafely(deps, host, { week, zone, signal })
    sum.written += written
    sum.delivered += delivered
  })
  log.info({ week: week.name, hosts: positions.length, ...sum }, 'weekly reports written')
  return sum
}

interface ReportRun {
  week: ReportWeek
  zone: string
  signal: AbortSignal
}

/** Writes and delivers the report of a host. Logs a failure, so that the other hosts still get their reports. */
const reportOnHostSafely = async (deps: WeeklyReportDeps, host: Host, run: ReportRun): Promise<RunResult> => {
  try {
    return await reportOnHost(deps, host, run)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    deps.log.warn({ host: host.name, week: run.week.name, code: error.code }, 'weekly report failed')
    return { written: 0, delivered: 0 }
  }
}

const reportOnHost = async (
  deps: WeeklyReportDeps,
  host: Host,
  { week, zone, signal }: ReportRun,
): Promise<RunResult> => {
  const { reports } = deps
  const about = { hostKey: host.key, host: host.name, week: week.name, zone }
  const id = createReportId(about, week)
  const call = createServiceCall(deps, signal)
  let isNew = false
  if (!(await reports.get(id))) {
    const earlier = findLastWeek(week.fromMs, zone)
    const before = await reports.get(createReportId({ ...about, week: earlier.name }, earlier))
    const report = await assembleReport(deps, { about, period: week, before: before?.report }, call)
    isNew = await reports.add({ ...report, summary: await generateEnabledSummary(deps, report, call) })
  }
  const stored = await reports.get(id)
  if (!stored || stored.delivery.status === 'done') return { written: isNew ? 1 : 0, delivered: 0 }
  const delivery = await deliverReport(deps.alerts, stored.report, call)
  await reports.recordDelivery(id, delivery)
  const isDelivered = delivery.targets.some(({ outcome }) => outcome === 'queued' || outcome === 'already-sent')
  return { written: isNew ? 1 : 0, delivered: isDelivered ? 1 : 0 }
}

const generateEnabledSummary = async (
  deps: WeeklyReportDeps,
  report: HostReport,
  call: CallContext,
): Promise<string | null> =>
  parseSettings(reportSettings, deps.env).SVC_REPORT_SUMMARY ? generateSummary(deps, report, call) : null

/** Sends a report to all targets. Retries are safe, because the dispatcher notifies each target once per report id. */
const deliverReport = async (
  client: ServiceClient<typeof alerts>,
  report: HostReport,
  call: CallContext,
): Promise<ReportDeliveryStatus> => {
  try {
    const targets = await client.notify(createAnnouncement(report), call)
    return { status: targets.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'done', targets }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { status: 'failed', targets: [] }
  }
}

const maxLines = 5

/** Returns the notification about a report, with a link to it. */
const createAnnouncement = (report: HostReport): Announcement => {
  const { incidents, statements, regressions, recommendations } = report
  const now = statements?.now
  const failed = now && now.calls > 0 ? ` (${formatPercent(now.errors / now.calls)} failed)` : ''
  const lines = [
    ...regressions.slice(0, maxLines).map(({ text }) => `Slower: ${text}`),
    ...recommendations.slice(0, maxLines).map(({ title }) => `Recommendation: ${title}`),
  ]
  return {
    topic: 'weekly-report',
    key: report.id,
    title: shortenText(`Weekly report of ${report.host}, ${report.week ?? ''}`, 300),
    text: shortenText(
      [report.headline, ...(report.summary === null ? [] : [report.summary]), ...lines].join('\n'),
      16_000,
    ),
    facts: [
      { label: 'Score', value: `${report.score} of 100` },
      ...(incidents ? [{ label: 'Alerts', value: `${incidents.total}, ${incidents.open} still open` }] : []),
      ...(now ? [{ label: 'Queries', value: `${now.calls}${failed}` }] : []),
    ],
    hostKey: report.hostKey,
    path: `/api/v1/reports/${report.id}?format=html`,
  }
}
