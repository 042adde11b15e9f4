import type { AuditRecord } from '#lib/api/audit.ts'
import { formatCsv } from '#lib/chart/csv.ts'
import type { Column } from '#lib/table/cell.ts'
import { createColumn } from '#lib/table/columns.ts'

/** Columns of the audit log. Actor, action and host are links that filter the log. */
export const auditColumns: readonly Column[] = [
  createColumn('at', 'Time', 'time'),
  createColumn('who', 'Actor', 'link', { href: '/audit?who={who}' }),
  createColumn('kind', 'Type', 'text', { doc: 'How the actor was authenticated.' }),
  createColumn('action', 'Action', 'link', { href: '/audit?action={action}' }),
  createColumn('host', 'Host', 'link', { href: '/audit?on={host}' }),
  createColumn('target', 'Target'),
  createColumn('result', 'Result', 'badge'),
  createColumn('took', 'Duration', 'duration-ms'),
  createColumn('detail', 'Detail'),
]

const results: Readonly<Record<AuditRecord['result'], string>> = {
  started: 'no result',
  done: 'done',
  refused: 'rejected',
  failed: 'failed',
}

export const toAuditRow = ({ atMs, actor, action, host, target, result, tookMs, detail }: AuditRecord) => ({
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
export const formatAuditCsv = (records: readonly AuditRecord[]): string =>
  formatCsv([
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
