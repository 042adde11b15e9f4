import type { Insight } from '#proto/insights.ts'
import type { Fleet } from '../measures/detector.ts'
import {
  aHost,
  singleHost,
  aMirror,
  aTable,
  aComparedHost,
  diskHours,
  anErrorCode,
  tableInserts,
  aMutation,
  partHours,
  patternDays,
  quietHours,
  aReplica,
  type InsightRows,
} from './rows.ts'

/** The rows of a host in one situation, and the insights that the detectors must report. */
export interface DetectorScenario {
  name: string
  rows: InsightRows
  fleet?: Fleet
  expected: readonly Pick<Insight, 'kind' | 'subject'>[]
}

const table = 'shop.orders'
const place = { database: 'shop', table: 'orders' }
const found = (kind: string, subject = table) => [{ kind, subject }]
const noise = (hoursAgo: number): number => Math.sin(hoursAgo * 12.9898) * 3
const gibibyte = 1_024 ** 3

/** Scenarios with an incident. */
const incidents: readonly DetectorScenario[] = [
  {
    name: 'a mirror of the replication service failed with many errors',
    rows: { 'replication-mirrors': [aMirror({ state: 'failed', errorsLastHour: 200, commonError: 'no such table' })] },
    expected: [...found('mirror-stopped', 'orders'), ...found('mirror-errors', 'orders')],
  },
  {
    name: 'a mirror has been copying for two days',
    rows: { 'replication-mirrors': [aMirror({ state: 'snapshot', copyingHours: 48 }), aMirror({ mirror: 'users' })] },
    expected: found('mirror-copying', 'orders'),
  },
  {
    name: 'the lag of a replication slot is large and grows',
    rows: {
      'replication-slots': [
        { slot: 'a', lagBytes: 6_000 * 1_024 ** 2, growthBytesPerHour: 2 * gibibyte },
        { slot: 'b', lagBytes: 1_000, growthBytesPerHour: null },
      ],
    },
    expected: [...found('slot-lag', 'a'), ...found('slot-growth', 'a')],
  },
  ...[
    { name: 'a fifth of all statements fails', now: { errors: 40 }, kind: 'error-rate' },
    { name: 'failures double with many calls', now: { calls: 4_000, errors: 120 }, kind: 'error-rate' },
    { name: 'statements take six times as long', now: { p95Ms: 640 }, kind: 'p95-duration' },
    { name: 'statements take 50 times as long', now: { p95Ms: 5_000 }, kind: 'p95-duration' },
    { name: 'a statement takes ten times the memory', now: { peakMemoryBytes: 20 * gibibyte }, kind: 'peak-memory' },
  ].map(({ name, now, kind }) => ({ name, rows: { 'query-hours': quietHours(now) }, expected: found(kind, '') })),
  {
    name: 'an outage: many queries fail, and the others are slow',
    rows: { 'query-hours': quietHours({ errors: 100, p95Ms: 9_000 }) },
    expected: [...found('error-rate', ''), ...found('p95-duration', '')],
  },
  {
    name: 'only four days of history, and statements are slow',
    rows: { 'query-hours': quietHours({ p95Ms: 5_000 }, 4 * 24) },
    expected: found('p95-duration', ''),
  },
  {
    name: 'a new error code beside an old one',
    rows: { 'error-codes': [anErrorCode(), anErrorCode({ code: 241, name: 'MEMORY_LIMIT_EXCEEDED', before: 0 })] },
    expected: found('new-error-code', '241'),
  },
  {
    name: 'a new pattern takes a third of the time',
    rows: { 'fingerprint-days': [...patternDays(), ...patternDays({ hash: '43', totalMs: 40_000 }, 1)] },
    expected: found('new-pattern', '43'),
  },
  {
    name: 'a pattern is slower since the server was upgraded',
    rows: { 'fingerprint-days': patternDays({ p95Ms: 1_500, revision: 54_480 }) },
    expected: found('pattern-regression', '42'),
  },
  {
    name: 'a pattern reads ten times the parts and is slower',
    rows: { 'fingerprint-days': patternDays({ p95Ms: 900, selectedParts: 100 }) },
    expected: found('pattern-regression', '42'),
  },
  {
    name: 'inserts have stopped',
    rows: { inserts: [tableInserts({ lastHour: 0 })] },
    expected: found('insert-stopped'),
  },
  {
    name: 'inserts of one table of two have stopped',
    rows: { inserts: [tableInserts(), tableInserts({ table: 'events', lastHour: 0 })] },
    expected: found('insert-stopped', 'shop.events'),
  },
  {
    name: 'many parts',
    rows: { tables: [aTable({ partsInFullestPartition: 320 })] },
    expected: found('fragmentation'),
  },
  {
    name: 'data that hardly compresses',
    rows: { tables: [aTable({ uncompressedBytes: 3.2 * gibibyte })] },
    expected: found('compression'),
  },
  {
    name: 'a TTL is not applied',
    rows: { 'expired-parts': [{ ...place, parts: 12, oldestHours: 200, bytes: gibibyte }] },
    expected: found('ttl-health'),
  },
  {
    name: 'the Keeper session is lost',
    rows: { replicas: [aReplica({ isReadonly: true })] },
    expected: found('readonly-replica'),
  },
  {
    name: 'a replica lags',
    rows: { replicas: [aReplica({ delaySeconds: 900 })] },
    expected: found('replica-lag'),
  },
  {
    name: 'parts are detached',
    rows: { 'detached-parts': [{ ...place, parts: 60 }] },
    expected: found('detached-parts'),
  },
  {
    name: 'a mutation fails',
    rows: { mutations: [aMutation({ isFailing: true })] },
    expected: found('stuck-mutation', `${table} mutation_1.txt`),
  },
  {
    name: 'a mutation runs for two hours',
    rows: { mutations: [aMutation({ ageSeconds: 7_200 })] },
    expected: found('stuck-mutation', `${table} mutation_1.txt`),
  },
  {
    name: 'a statement runs for an hour, twice',
    rows: {
      'running-queries': [4_000, 3_600].map((elapsedSeconds) => ({
        hash: '7',
        user: 'ada',
        kind: 'Select',
        elapsedSeconds,
      })),
    },
    expected: found('long-query', '7'),
  },
  {
    name: 'the source of a dictionary is unavailable',
    rows: { dictionaries: [{ database: 'shop', name: 'countries', status: 'FAILED', isFailing: true }] },
    expected: found('failed-dictionary', 'shop.countries'),
  },
  {
    name: 'parts grow until inserts are rejected',
    rows: { 'part-hours': partHours((hoursAgo) => 2_000 - hoursAgo * 40) },
    expected: found('parts-refused', ''),
  },
  {
    name: 'a disk fills steadily',
    rows: { 'disk-hours': diskHours((hoursAgo) => 900 - hoursAgo * 0.5 + noise(hoursAgo)) },
    expected: found('disk-full', 'default'),
  },
  {
    name: 'a disk fills again after a deletion',
    rows: { 'disk-hours': diskHours((hoursAgo) => (hoursAgo > 100 ? 950 : 900 - hoursAgo * 2)) },
    expected: found('disk-full', 'default'),
  },
  {
    name: 'a host was not upgraded with its group',
    rows: {},
    fleet: {
      self: aHost({ version: '25.8.2' }),
      peers: [aHost({ version: '26.3.1.7' }), aHost({ version: '26.3.1.7' })],
    },
    expected: found('version-drift', ''),
  },
  {
    name: 'a replica on which a statement takes five times as long',
    rows: {},
    fleet: { self: aComparedHost({ p95Ms: 1_500 }), peers: [aComparedHost(), aComparedHost({ p95Ms: 310 })] },
    expected: found('pattern-skew', '42'),
  },
  {
    name: 'a setting differs on one host',
    rows: {},
    fleet: { self: aComparedHost({}, {}), peers: [aComparedHost(), aComparedHost()] },
    expected: found('settings-drift', ''),
  },
  {
    name: 'a clock half a minute slow',
    rows: {},
    fleet: { ...singleHost, self: aHost({ clockSkewMs: -30_000 }) },
    expected: found('clock-skew', ''),
  },
]

/** Scenarios in which no detector may report an insight. */
const quiet: readonly DetectorScenario[] = [
  { name: 'four quiet weeks', rows: { 'query-hours': quietHours() } },
  { name: 'a busy hour', rows: { 'query-hours': quietHours({ calls: 5_000, errors: 55 }) } },
  { name: 'three failures in ten calls', rows: { 'query-hours': quietHours({ calls: 10, errors: 3 }) } },
  { name: 'a little slower', rows: { 'query-hours': quietHours({ p95Ms: 180 }) } },
  {
    name: 'slow at this hour on every day',
    rows: {
      'query-hours': quietHours().map((row) =>
        row.hoursAgo % 24 <= 1 || row.hoursAgo % 24 === 23 ? { ...row, p95Ms: 4_000 } : row,
      ),
    },
  },
  { name: 'a day of history', rows: { 'query-hours': quietHours({ p95Ms: 9_000 }, 24) } },
  { name: 'an old error code that comes more often', rows: { 'error-codes': [anErrorCode({ recent: 900 })] } },
  {
    name: 'a new log, in which every error code is new',
    rows: { 'error-codes': [anErrorCode({ before: 0, historyHours: 20 })] },
  },
  {
    name: 'a new pattern with a negligible share',
    rows: { 'fingerprint-days': [...patternDays(), ...patternDays({ hash: '43', totalMs: 50 }, 1)] },
  },
  { name: 'a pattern a little slower', rows: { 'fingerprint-days': patternDays({ p95Ms: 450 }) } },
  {
    name: 'a table that is filled at night',
    rows: { inserts: [tableInserts({ lastHour: 0, dayAgo: 0, weekAgo: 0, activeHours: 3 })] },
  },
  {
    name: 'tables without problems',
    rows: { tables: [aTable(), aTable({ table: 'small', compressedBytes: 500, uncompressedBytes: 600 })] },
  },
  { name: 'replicas that keep up', rows: { replicas: [aReplica(), aReplica({ table: 'events', delaySeconds: 5 })] } },
  { name: 'a running mutation', rows: { mutations: [aMutation()] } },
  { name: 'a disk with constant usage', rows: { 'disk-hours': diskHours((hoursAgo) => 700 + noise(hoursAgo)) } },
  { name: 'a disk that fills in a year', rows: { 'disk-hours': diskHours((hoursAgo) => 200 - hoursAgo * 0.05) } },
  { name: 'varying numbers of parts', rows: { 'part-hours': partHours((hoursAgo) => 400 + noise(hoursAgo) * 20) } },
  {
    name: 'a statement that is equally slow on every replica',
    rows: {},
    fleet: {
      self: aComparedHost({ p95Ms: 1_500 }),
      peers: [aComparedHost({ p95Ms: 1_400 }), aComparedHost({ p95Ms: 1_450 })],
    },
  },
  {
    name: 'hosts that all have different settings',
    rows: {},
    fleet: {
      self: aComparedHost({}, { a: '1' }),
      peers: [aComparedHost({}, { a: '2' }), aComparedHost({}, { a: '3' })],
    },
  },
  {
    name: 'groups with different versions',
    rows: {},
    fleet: { self: aHost(), peers: [aHost({ group: 'eu', version: '25.8.2' }), aHost({ version: null })] },
  },
].map((scenario) => ({ ...scenario, expected: [] }))

/** All scenarios. */
export const detectorScenarios: readonly DetectorScenario[] = [...incidents, ...quiet]
