import { describe, expect, it } from 'vitest'
import { listBackupMetrics, listFailedBackups } from './backup-metrics.ts'

const minuteMs = 60_000
const row = (status: string, minute: number, more: Record<string, unknown> = {}) => ({
  status,
  name: `Disk('${minute}')`,
  started: minute * minuteMs,
  ended: minute * minuteMs,
  size: 100,
  duration: 7,
  error: '',
  ...more,
})
const valueOf = (rows: ReturnType<typeof row>[], name: string) =>
  listBackupMetrics(rows, 60 * minuteMs).find((fact) => fact.name === name)?.value

describe('backup figures', () => {
  const rows = [
    row('BACKUP_CREATED', 10, { size: 50 }),
    row('BACKUP_CREATED', 30),
    row('BACKUP_FAILED', 50, { error: 'no room' }),
    row('RESTORE_FAILED', 40, { error: 'no such file' }),
    row('CREATING_BACKUP', 59, { ended: null }),
  ]

  it.each([
    ['Latest backup', '30m ago'],
    ['Size', 100],
    ['Duration', 7],
    ['Backups', 2],
    ['Total size', 150],
    ['Failed', 2],
    ['In progress', 1],
    ['Restored', 0],
  ])('%s: %s', (name, value) => expect(valueOf(rows, name)).toBe(value))

  it('report missing backups', () => {
    expect(valueOf([], 'Latest backup')).toBe('none')
    expect(valueOf([], 'Size')).toBeNull()
  })

  it('list failures, newest first', () => {
    expect(listFailedBackups(rows).map(({ reason }) => reason)).toEqual(['no room', 'no such file'])
  })
})
