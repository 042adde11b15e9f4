import type { AuditRecord } from '#lib/api/audit.ts'
import { csvOf } from '#lib/chart/csv.ts'
import type { Column } from '#lib/table/cell.ts'
import { column } from '#lib/table/columns.ts'

/** Columns of the audit log. Actor, action and host are links that filter the log. */
export const auditColumns: readonly Column[] = [
  column('at', 'Time', 'time'),
  column('who', 'Actor', 'link', { href: '/audit?who={who}' }),
  column('kind', 'Type', 'text', { doc: 'How the actor was authenticated.' }),
  column('action', 'Action', 'link', { href: '/audit?action={action}' }),
  column('host', 'Host', 'link', { href: '/audit?on={host}' }),
  column('target', 'Target'),
  column('result', 'Result', 'badge'),
  column('took', 'Duration', 'duration-ms'),
  column('detail', 'Detail'),
]

const results: Readonly<Record<AuditRecord['result'], string>> = {
  started: 'no result',
  done: 'done',
  refused: 'rejected',
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

/** Returns the records as CSV with all fields. Instants are in ISO 8601. */
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
