import type { Row } from '#proto/query.ts'
import type { Forecast } from '#lib/api/insights.ts'
import { readNumber } from '#lib/chart/series.ts'
import type { Fact } from '#lib/ui/fact.ts'
import { fullBetween, fullIn, percentUsed, type Disk } from './disks.ts'

interface Known {
  disks: readonly Disk[]
  forecasts: readonly Forecast[]
  /** Undefined where it is not known. */
  growth: readonly Row[] | undefined
  freeable: readonly Row[] | undefined
  nowMs: number
  zone: string
}

/** What an operator asks of storage first: which disk is fullest, when one is full, what grows, and what could go. */
export const storageFigures = ({ disks, forecasts, growth, freeable, nowMs, zone }: Known): Fact[] => {
  const [fullest] = disks.toSorted((one, other) => (percentUsed(other) ?? 0) - (percentUsed(one) ?? 0))
  const ofDisks = forecasts.filter(({ what }) => what === 'disk')
  const [first] = ofDisks
    .filter(({ days }) => days !== null)
    .toSorted((one, other) => (one.days?.soonest ?? 0) - (other.days?.soonest ?? 0))
  const parts = forecasts.find(({ what }) => what === 'parts')
  return [
    { name: 'Fullest disk', value: fullest ? percentUsed(fullest) : null, unit: 'percent', note: fullest?.name ?? '' },
    { name: 'Free on it', value: fullest?.total ? fullest.free : null, unit: 'bytes' },
    { name: 'First to be full', ...firstFull(first, { isKnown: ofDisks.length > 0, nowMs, zone }) },
    { name: 'Tables grow a day', value: sum(growth, 'grows'), unit: 'bytes', note: 'all of them, over 7 days' },
    { name: 'Could be freed', value: sum(freeable, 'freeable'), unit: 'bytes' },
    {
      name: 'Parts of a partition',
      value: parts?.now ?? null,
      unit: 'count',
      note: parts ? `of ${parts.limit}; ${parts.outlook}` : '',
    },
  ]
}

const firstFull = (
  first: Forecast | undefined,
  { isKnown, nowMs, zone }: { isKnown: boolean; nowMs: number; zone: string },
): Pick<Fact, 'value' | 'note'> => {
  if (!first) return { value: isKnown ? 'none' : 'not known yet', note: isKnown ? 'no disk fills up' : '' }
  const between = fullBetween(first, nowMs, zone)
  const within = fullIn(first)
  return within ? { value: within, note: `${first.subject}, ${between}` } : { value: between, note: first.subject }
}

const sum = (rows: readonly Row[] | undefined, name: string): number | null =>
  rows ? rows.reduce((total, row) => total + (readNumber(row[name]) ?? 0), 0) : null
