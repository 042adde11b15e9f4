import type { AuditRecord } from '#lib/api/audit.ts'
import { csvOf } from '#lib/chart/csv.ts'
import type { Column } from '#lib/table/cell.ts'
import { column } from '#lib/table/columns.ts'

/** Records as rows of a table; who, what and where lead to more of the same. */
export const auditColumns: readonly Column[] = [
  column('at', 'When', 'time'),
  column('who', 'Who', 'link', { href: '/audit?who={who}' }),
  column('kind', 'As', 'text', { doc: 'How they were known.' }),
  column('action', 'What', 'link', { href: '/audit?action={action}' }),
  column('host', 'Host', 'link', { href: '/audit?on={host}' }),
  column('target', 'To what'),
  column('result', 'Result', 'badge'),
  column('took', 'Took', 'duration-ms'),
  column('detail', 'What came of it'),
]

const results: Readonly<Record<AuditRecord['result'], string>> = {
  begun: 'end unknown',
  done: 'done',
  refused: 'refused',
  failed: 'failed',
}

export const auditRow = ({ atMs, actor, action, host, target, result, tookMs, detail }: AuditRecord) => ({
  at: atMs,
  who: actor.subject,
  kind: actor.kind,
  action,
  host,
  target: Object.entries(target)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', '),
  result: results[result],
  took: tookMs,
  detail,
})

/** All of each record as a file, with instants in ISO form. */
export const auditCsv = (records: readonly AuditRecord[]): string =>
  csvOf([
    ['at', 'kind', 'subject', 'action', 'host', 'target', 'result', 'took_ms', 'detail', 'request_id', 'id'],
    ...records.map(({ atMs, actor, action, host, target, result, tookMs, detail, requestId, id }) => [
      new Date(atMs).toISOString(),
      actor.kind,
      actor.subject,
      action,
      host ?? '',
      JSON.stringify(target),
      result,
      tookMs === null ? '' : String(tookMs),
      detail ?? '',
      requestId ?? '',
      id,
    ]),
  ])
