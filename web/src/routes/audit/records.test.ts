import { describe, expect, it } from 'vitest'
import { auditColumns, formatAuditCsv, toAuditRow } from './records.ts'

const record = {
  id: 'r1',
  atMs: 1_790_000_000_000,
  actor: { kind: 'user' as const, subject: 'ada' },
  action: 'kill-query',
  host: 'one',
  target: { queryId: 'q1', user: 'bob' },
  result: 'done' as const,
  detail: null,
  tookMs: 12.5,
  requestId: null,
}

describe('audit records', () => {
  it('fill every column', () => {
    const row = toAuditRow(record)
    expect(Object.keys(row)).toEqual(auditColumns.map(({ name }) => name))
    expect(row.target).toBe('queryId: q1, user: bob')
  })

  it('mark actions without a known result', () => {
    expect(toAuditRow({ ...record, result: 'started' }).result).toBe('no result')
  })

  it('export all fields as CSV without formulas', () => {
    const [head, line, end] = formatAuditCsv([{ ...record, detail: '=cmd()' }]).split('\r\n')
    expect(head).toBe('at,kind,subject,action,host,target,result,took_ms,detail,request_id,id')
    expect(line).toBe(
      `2026-09-21T14:13:20.000Z,user,ada,kill-query,one,"{""queryId"":""q1"",""user"":""bob""}",done,12.5,'=cmd(),,r1`,
    )
    expect(end).toBe('')
  })
})
