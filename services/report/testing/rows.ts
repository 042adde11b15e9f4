import type { InsightRow, InsightRowSet } from '#proto/insight-rows.ts'
import { detectors } from '../detectors/index.ts'
import type { Fleet, HostFacts, DetectorOutcome, HostStatistics } from '../detection/detector.ts'

/** The rows of a host by row set. */
export type InsightRows = { readonly [S in InsightRowSet]?: readonly InsightRow<S>[] }

/** Returns the facts of a host with a nearly correct clock and without statistics. */
export const createHostFacts = (more: Partial<HostFacts> = {}): HostFacts => ({
  name: 'box',
  group: null,
  version: '26.3.1.7',
  clockSkewMs: 40,
  figures: null,
  ...more,
})

/** Returns the facts of a host with one query pattern of 300 ms and some changed settings. */
export const createComparedHost = (
  pattern: Partial<HostStatistics['patterns'][number]> = {},
  settings: Record<string, string> = { max_threads: '7' },
): HostFacts =>
  createHostFacts({
    figures: {
      patterns: [
        { hash: '42', calls: 100, p95Ms: 300, readRows: 1_000, selectedParts: 10, marksShare: 0.1, ...pattern },
      ],
      settings,
    },
  })

/** A fleet of one host. */
export const singleHost: Fleet = { self: createHostFacts(), peers: [] }

/** Evaluates the detector of this kind on rows. */
export const runDetector = (kind: string, rows: InsightRows, fleet: Fleet = singleHost): DetectorOutcome => {
  const detector = detectors.find((each) => each.kind === kind)
  if (!detector) throw new Error(`unknown detector "${kind}"`)
  return detector.evaluate(rows, fleet)
}

type QueryHour = InsightRow<'query-hours'>

/** Returns four weeks without anomalies: per hour about 200 calls, two failures, a p95 of 100 ms, a peak of 2 GiB. */
export const createQuietHours = (now: Partial<QueryHour> = {}, hours = 29 * 24): QueryHour[] =>
  Array.from({ length: hours }, (_, hoursAgo) => ({
    hoursAgo,
    calls: 200 + (hoursAgo % 7),
    errors: 2,
    p95Ms: 100 + (hoursAgo % 5),
    peakMemoryBytes: 2 * 1_024 ** 3 + hoursAgo * 1_000,
    ...(hoursAgo === 0 && now),
  }))

type PatternDay = InsightRow<'fingerprint-days'>

/** Returns eight days of one query pattern that takes 300 ms. */
export const createPatternDays = (now: Partial<PatternDay> = {}, days = 8): PatternDay[] =>
  Array.from({ length: days }, (_, daysAgo) => ({
    hash: '42',
    daysAgo,
    kind: 'Select',
    calls: 100,
    totalMs: 30_000,
    p95Ms: 300 + daysAgo,
    readRows: 1_000,
    selectedParts: 10,
    marksShare: 0.1,
    revision: 54_470,
    settingsHash: 'a',
    tables: ['shop.orders'],
    dayTotalMs: 100_000,
    historyHours: 200,
    ...(daysAgo === 0 && now),
  }))

type DiskHour = InsightRow<'disk-hours'>

/** Returns hourly rows of a 1,000 GiB disk with `used(hoursAgo)` GiB in use. */
export const createDiskHours = (used: (hoursAgo: number) => number | null, hours = 336): DiskHour[] =>
  Array.from({ length: hours }, (_, hoursAgo) => {
    const usedGibibytes = used(hoursAgo)
    return {
      disk: 'default',
      hoursAgo,
      usedBytes: usedGibibytes === null ? null : usedGibibytes * 1_024 ** 3,
      totalBytes: 1_000 * 1_024 ** 3,
    }
  })

type PartHour = InsightRow<'part-hours'>

/** Returns hourly rows of the fullest partition, with a limit of 3,000 parts. */
export const createPartHours = (parts: (hoursAgo: number) => number, hours = 48): PartHour[] =>
  Array.from({ length: hours }, (_, hoursAgo) => ({ hoursAgo, parts: parts(hoursAgo), refusedAt: 3_000 }))

/** Returns a table with ongoing inserts. */
export const createTableInserts = (more: Partial<InsightRow<'inserts'>> = {}): InsightRow<'inserts'> => ({
  database: 'shop',
  table: 'orders',
  lastHour: 90,
  dayAgo: 100,
  weekAgo: 110,
  activeHours: 24,
  historyHours: 200,
  ...more,
})

/** Returns a well-compressed table of 3 GiB in a few parts. */
export const createTable = (more: Partial<InsightRow<'tables'>> = {}): InsightRow<'tables'> => ({
  database: 'shop',
  table: 'orders',
  parts: 12,
  partsInFullestPartition: 6,
  rows: 1_000_000,
  compressedBytes: 3 * 1_024 ** 3,
  uncompressedBytes: 30 * 1_024 ** 3,
  ...more,
})

const place = { database: 'shop', table: 'orders' }
/** Returns a replica without lag. */
export const createReplica = (more: Partial<InsightRow<'replicas'>> = {}): InsightRow<'replicas'> => ({
  ...place,
  isReadonly: false,
  delaySeconds: 0,
  ...more,
})
/** Returns a mutation that started a minute ago. */
export const createMutation = (more: Partial<InsightRow<'mutations'>> = {}): InsightRow<'mutations'> => ({
  ...place,
  mutationId: 'mutation_1.txt',
  ageSeconds: 60,
  partsToDo: 3,
  isFailing: false,
  ...more,
})
/** Returns an error code that is not new. */
export const createErrorCode = (more: Partial<InsightRow<'error-codes'>> = {}): InsightRow<'error-codes'> => ({
  code: 60,
  name: 'UNKNOWN_TABLE',
  recent: 30,
  before: 200,
  historyHours: 200,
  ...more,
})

/** Returns a mirror without lag or errors. */
export const createMirror = (
  more: Partial<InsightRow<'replication-mirrors'>> = {},
): InsightRow<'replication-mirrors'> => ({
  mirror: 'orders',
  state: 'running',
  copyingHours: null,
  errorsLastHour: 0,
  commonError: '',
  ...more,
})
