import type { alerts } from '#proto/alerts.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport, ReportDelivery } from '#proto/host-report.ts'
import type { Announcement } from '#proto/notify.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { percent } from '../insights/words.ts'

/** Hands a report over to be sent, best effort: a target that was told under this id is not told again. */
export const deliver = async (
  client: Client<typeof alerts>,
  report: HostReport,
  call: Call,
): Promise<ReportDelivery> => {
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
export const announcementOf = (report: HostReport): Announcement => {
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
