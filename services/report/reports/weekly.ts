import type { Logger } from 'pino'
import type { agent } from '#proto/agent.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport, ReportDelivery } from '#proto/host-report.ts'
import type { Announcement } from '#proto/notify.ts'
import type { Host } from '#proto/query.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { Store } from '#shared/store/store.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { percent } from '../measures/words.ts'
import { hostByHost, ownCall } from '../work.ts'
import { build, type Sources } from './build.ts'
import { lastWeek, type Week } from './material.ts'
import { layOut } from './render/lay-out.ts'
import { plain } from './render/markdown.ts'
import { reportSettings, reportZone } from './settings.ts'
import type { ReportStore } from './store.ts'
import { reportId } from './write-report.ts'

/** Of a report, in characters, that a model reads. */
const longestText = 60_000
const longestSummary = 1_200

/** What a language model makes of a report; null where there is no model, or what it said does not hold. */
const summaryOf = async (
  { agent: client, log }: { agent: Client<typeof agent>; log: Logger },
  report: HostReport,
  call: Call,
): Promise<string | null> => {
  const text = beginningOf(plain(layOut(report)), longestText)
  try {
    const { summary } = await client.summarise({ text }, call)
    const said = summary.replaceAll(/\s+/g, ' ').trim()
    const problem = problemOf(said, text)
    if (problem === undefined) return said
    log.warn({ hostKey: report.hostKey, problem }, 'the summary of a report is left out')
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, details } = error
    if (details?.reason !== 'provider-not-configured')
      log.warn({ hostKey: report.hostKey, code }, 'a report has no summary')
  }
  return null
}

/** Why a summary cannot stand beside the report; undefined when it can. */
export const problemOf = (summary: string, report: string): string | undefined => {
  if (summary === '' || summary.length > longestSummary) return 'length'
  // Names and statements of the host may have talked the model into something.
  if (/[<>[\]]|:\/\/|www\./i.test(summary)) return 'markup'
  if (spelledOut.test(summary)) return 'figures in words'
  const known = new Set(figuresOf(report))
  return figuresOf(summary).every((figure) => known.has(figure)) ? undefined : 'figures'
}

/** What nobody could look up in the report. */
const spelledOut =
  /\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|fifty|hundreds?|thousands?|millions?|billions?|twice|doubled?|tripled?|half|halved|thirds?|quarters?)\b/i

/** Figures of a text, each with its unit where it has one. */
const figuresOf = (text: string): string[] =>
  [...text.matchAll(/\d[\d.,:]*(?:\s?(?:%|[KMGTP]iB\b|B\b|s\b|minutes\b|hours\b|days\b))?/g)].map(([figure]) =>
    figure.replaceAll(/\s/g, '').replaceAll(/[.,:]+(?=\D|$)/g, ''),
  )

/** What the weekly reports are written with. */
export interface Writing extends Sources {
  env: Environment
  store: Store
  reports: ReportStore
  log: Logger
  agent: Client<typeof agent>
}

/** Reports that one round wrote, and those that it handed over to be sent. */
interface Written {
  written: number
  delivered: number
}

const leaseName = 'reports:weekly'
/** Longer than a round takes; what two rounds at once would write is written once all the same. */
const leaseMs = 15 * 60_000

/** Writes the report of last week of each host that is opted in and has none, and hands over what is not told yet. */
export const writeWeekly = async (writing: Writing, signal: AbortSignal): Promise<Written> => {
  await using lease = await writing.store.lease(leaseName, leaseMs)
  if (!lease) return { written: 0, delivered: 0 }
  const { clock, env, log } = writing
  const { SVC_WEEKLY_REPORT_HOSTS: positions } = read(reportSettings, env)
  const zone = reportZone(env)
  if (positions.length === 0) return { written: 0, delivered: 0 }
  const week = lastWeek(clock.now(), zone)
  const hosts = await writing.query.hosts({}, ownCall(writing, signal))
  const missing = positions.filter((position) => !hosts.some(({ id }) => id === position))
  if (missing.length > 0) log.warn({ positions: missing }, 'no such hosts to report on')
  const sum: Written = { written: 0, delivered: 0 }
  const chosen = hosts.filter(({ id }) => positions.includes(id))
  await hostByHost(chosen, async (host) => {
    signal.throwIfAborted()
    const { written, delivered } = await reportOn(writing, host, { week, zone, signal })
    sum.written += written
    sum.delivered += delivered
  })
  log.info({ week: week.name, hosts: positions.length, ...sum }, 'weekly reports written')
  return sum
}

interface Round {
  week: Week
  zone: string
  signal: AbortSignal
}

/** One host that fails keeps no other from its report. */
const reportOn = async (writing: Writing, host: Host, round: Round): Promise<Written> => {
  try {
    return await reportOnHost(writing, host, round)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    writing.log.warn({ host: host.name, week: round.week.name, code: error.code }, 'weekly report not written')
    return { written: 0, delivered: 0 }
  }
}

const reportOnHost = async (writing: Writing, host: Host, { week, zone, signal }: Round): Promise<Written> => {
  const { reports } = writing
  const about = { hostKey: host.key, host: host.name, week: week.name, zone }
  const id = reportId(about, week)
  const call = ownCall(writing, signal)
  let isNew = false
  if (!(await reports.get(id))) {
    const earlier = lastWeek(week.fromMs, zone)
    const before = await reports.get(reportId({ ...about, week: earlier.name }, earlier))
    const report = await build(writing, { about, period: week, before: before?.report }, call)
    isNew = await reports.add({ ...report, summary: await summaryFor(writing, report, call) })
  }
  const kept = await reports.get(id)
  if (!kept || kept.delivery.status === 'done') return { written: isNew ? 1 : 0, delivered: 0 }
  const delivery = await deliver(writing.alerts, kept.report, call)
  await reports.settle(id, delivery)
  const isTold = delivery.targets.some(({ outcome }) => outcome === 'queued' || outcome === 'told')
  return { written: isNew ? 1 : 0, delivered: isTold ? 1 : 0 }
}

const summaryFor = async (writing: Writing, report: HostReport, call: Call): Promise<string | null> =>
  read(reportSettings, writing.env).SVC_REPORT_SUMMARY ? summaryOf(writing, report, call) : null

/** Hands a report over to be sent, best effort: a target that was told under this id is not told again. */
const deliver = async (client: Client<typeof alerts>, report: HostReport, call: Call): Promise<ReportDelivery> => {
  try {
    const targets = await client.notify(announcementOf(report), call)
    return { status: targets.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'done', targets }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { status: 'failed', targets: [] }
  }
}

const mostTold = 5

/** What of a report people are told; the report itself is behind the link. */
const announcementOf = (report: HostReport): Announcement => {
  const { incidents, statements, regressions, recommendations } = report
  const now = statements?.now
  const failed = now && now.calls > 0 ? ` (${percent(now.errors / now.calls)} failed)` : ''
  const lines = [
    ...regressions.slice(0, mostTold).map(({ text }) => `Slower: ${text}`),
    ...recommendations.slice(0, mostTold).map(({ title }) => `Worth doing: ${title}`),
  ]
  return {
    topic: 'weekly-report',
    key: report.id,
    title: beginningOf(`Weekly report of ${report.host}, ${report.week ?? ''}`, 300),
    text: beginningOf(
      [report.verdict, ...(report.summary === null ? [] : [report.summary]), ...lines].join('\n'),
      16_000,
    ),
    facts: [
      { label: 'Score', value: `${report.score} of 100` },
      ...(incidents ? [{ label: 'Alerts', value: `${incidents.total}, ${incidents.open} still open` }] : []),
      ...(now ? [{ label: 'Statements', value: `${now.calls}${failed}` }] : []),
    ],
    hostKey: report.hostKey,
    path: `/api/v1/reports/${report.id}?format=html`,
  }
}
