import { describe, expect, it } from 'vitest'
import type { AuditRecord } from '#proto/audit.ts'
import { splitAuditPage } from './audit.ts'

const record = (atMs: number): AuditRecord => ({
  id: 'r',
  atMs,
  actor: { kind: 'user', subject: 'ada' },
  action: 'kill-query',
  host: null,
  target: {},
  result: 'done',
  detail: null,
  tookMs: null,
  requestId: null,
})

describe('a page of audit records', () => {
  it.each([
    ['with room left', [3, 2], [3, 2], null],
    ['that is full', [4, 3, 2], [4, 3], 3],
    ['whose end would part one instant', [4, 3, 3], [4], 4],
    ['of one instant alone', [3, 3, 3], [3, 3], 3],
  ])('%s', (_what, found, expected, next) => {
    const page = splitAuditPage(found.map(record), 2)
    expect([page.records.map(({ atMs }) => atMs), page.next]).toEqual([expected, next])
  })
})
