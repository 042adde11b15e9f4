import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'
import type { KeyMetric } from '#lib/ui/key-metric.ts'
import { formatAge, readInstant } from '#lib/ui/time.ts'

/** Time range of the page in days. The table of backups covers the same range. */
export const backupRangeDays = 30

const stateOf = ({ status }: Row): string => String(status)
const isCreated = (row: Row): boolean => stateOf(row) === 'BACKUP_CREATED'
const hasFailed = (row: Row): boolean => stateOf(row).endsWith('_FAILED')
const isInProgress = (row: Row): boolean => ['CREATING_BACKUP', 'RESTORING'].includes(stateOf(row))

/** Returns the key metrics: age, size and duration of the latest backup, and the number of failures. */
export const listBackupMetrics = (rows: readonly Row[], nowMs: number): KeyMetric[] => {
  const made = rows.filter(isCreated).toSorted((one, other) => endOf(other) - endOf(one))
  const [latest] = made
  const restored = rows.filter((row) => stateOf(row) === 'RESTORED').length
  return [
    {
      name: 'Latest backup',
      value: latest ? formatAge(endOf(latest), nowMs) : 'none',
      note: latest ? String(latest['name']) : `within ${backupRangeDays} days`,
    },
    { name: 'Size', value: readNumber(latest?.['size']), unit: 'bytes' },
    { name: 'Duration', value: readNumber(latest?.['duration']), unit: 'seconds' },
    { name: 'Backups', value: made.length, unit: 'count', note: `within ${backupRangeDays} days` },
    { name: 'Total size', value: made.reduce((sum, row) => sum + (readNumber(row['size']) ?? 0), 0), unit: 'bytes' },
    { name: 'Failed', value: rows.filter(hasFailed).length, unit: 'count', note: `within ${backupRangeDays} days` },
    { name: 'In progress', value: rows.filter(isInProgress).length, unit: 'count' },
    { name: 'Restored', value: restored, unit: 'count', note: `within ${backupRangeDays} days` },
  ]
}

/** Returns failed backups and restores with the error of the host, newest first. */
export const listFailedBackups = (rows: readonly Row[]): { name: string; atMs: number; reason: string }[] =>
  rows
    .filter(hasFailed)
    .map((row) => ({ name: String(row['name']), atMs: endOf(row), reason: String(row['error'] ?? '') }))
    .toSorted((one, other) => other.atMs - one.atMs)

const endOf = ({ ended, started }: Row): number => readInstant(ended) ?? readInstant(started) ?? 0
