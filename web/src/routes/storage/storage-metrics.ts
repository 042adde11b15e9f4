import type { Row } from '#proto/query.ts'
import type { Forecast } from '#lib/api/insights.ts'
import { readNumber } from '#lib/chart/series.ts'
import type { KeyMetric } from '#lib/ui/key-metric.ts'
import { formatDiskFullDates, formatTimeUntilFull, computeUsedPercent, type Disk } from './disks.ts'

interface StorageData {
  disks: readonly Disk[]
  forecasts: readonly Forecast[]
  /** Rows of table growth; undefined while loading or if unavailable. */
  growth: readonly Row[] | undefined
  freeable: readonly Row[] | undefined
  nowMs: number
  zone: string
}

/** Returns the key metrics: the fullest disk, the disk that will be full first, growth, and reclaimable space. */
export const listStorageMetrics = ({ disks, forecasts, growth, freeable, nowMs, zone }: StorageData): KeyMetric[] => {
  const [fullest] = disks.toSorted((one, other) => (computeUsedPercent(other) ?? 0) - (computeUsedPercent(one) ?? 0))
  const ofDisks = forecasts.filter(({ what }) => what === 'disk')
  const [first] = ofDisks
    .filter(({ days }) => days !== null)
    .toSorted((one, other) => (one.days?.soonest ?? 0) - (other.days?.soonest ?? 0))
  const parts = forecasts.find(({ what }) => what === 'parts')
  return [
    {
      name: 'Fullest disk',
      value: fullest ? computeUsedPercent(fullest) : null,
      unit: 'percent',
      note: fullest?.name ?? '',
    },
    { name: 'Free space', value: fullest?.total ? fullest.free : null, unit: 'bytes' },
    { name: 'Next disk to fill up', ...describeNextFullDisk(first, { isKnown: ofDisks.length > 0, nowMs, zone }) },
    { name: 'Table growth per day', value: sumColumn(growth, 'grows'), unit: 'bytes', note: 'all tables, last 7 days' },
    { name: 'Reclaimable', value: sumColumn(freeable, 'freeable'), unit: 'bytes' },
    {
      name: 'Parts per partition',
      value: parts?.now ?? null,
      unit: 'count',
      note: parts ? `of ${parts.limit}; ${parts.summary}` : '',
    },
  ]
}

const describeNextFullDisk = (
  first: Forecast | undefined,
  { isKnown, nowMs, zone }: { isKnown: boolean; nowMs: number; zone: string },
): Pick<KeyMetric, 'value' | 'note'> => {
  if (!first) return { value: isKnown ? 'none' : 'no forecast yet', note: isKnown ? 'no disk is filling up' : '' }
  const between = formatDiskFullDates(first, nowMs, zone)
  const within = formatTimeUntilFull(first)
  return within ? { value: within, note: `${first.subject}, ${between}` } : { value: between, note: first.subject }
}

const sumColumn = (rows: readonly Row[] | undefined, name: string): number | null =>
  rows ? rows.reduce((total, row) => total + (readNumber(row[name]) ?? 0), 0) : null
