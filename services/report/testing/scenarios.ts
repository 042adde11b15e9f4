import type { Insight } from '#proto/insights.ts'
import type { Fleet } from '../detection/detector.ts'
import {
  createHostFacts,
  singleHost,
  createMirror,
  createTable,
  createComparedHost,
  createDiskHours,
  createErrorCode,
  createTableInserts,
  createMutation,
  createPartHours,
  createPatternDays,
  createQuietHours,
  createReplica,
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
const expectInsight = (kind: string, subject = table) => [{ kind, subject }]
const computeNoise = (hoursAgo: number): number => Math.sin(hoursAgo * 12.9898) * 3
const gibibyte = 1_024 ** 3

/** Scenarios with an incident. */
const incidentScenarios: readonly DetectorScenario[] = [
  {
    name: 'a mirror of the replication service failed with many errors',
    rows: {
      'replication-mirrors': [createMirror({ state: 'failed', errorsLastHour: 200, commonError: 'no such table' })],
    },
    expected: [...expectInsight('mirror-stopped', 'orders'), ...expectInsight('mirror-errors', 'orders')],
  },
  {
    name: 'a mirror has been copying for two days',
    rows: {
      'replication-mirrors': [createMirror({ state: 'snapshot', copyingHours: 48 }), createMirror({ mirror: 'users' })],
    },
    expected: expectInsight('mirror-copying', 'orders'),
  },
  {
    name: 'the lag of a replication slot is large and grows',
    rows: {
      'replication-slots': [
        { slot: 'a', lagBytes: 6_000 * 1_024 ** 2, growthBytesPerHour: 2 * gibibyte },
        { slot: 'b', lagBytes: 1_000, growthBytesPerHour: null },
      ],
    },
    expected: [...expectInsight('slot-lag', 'a'), ...expectInsight('slot-growth', 'a')],
  },
  ...[
    { name: 'a fifth of all statements fails', now: { errors: 40 }, kind: 'error-rate' },
    { name: 'failures double with many calls', now: { calls: 4_000, errors: 120 }, kind: 'error-rate' },
    { name: 'statements take six times as long', now: { p95Ms: 640 }, kind: 'p95-duration' },
    { name: 'statements take 50 times as long', now: { p95Ms: 5_000 }, kind: 'p95-duration' },
    { name: 'a statement takes ten times the memory', now: { peakMemoryBytes: 20 * gibibyte }, kind: 'peak-memory' },
  ].map(({ name, now, kind }) => ({
    name,
    rows: { 'query-hours': createQuietHours(now) },
    expected: expectInsight(kind, ''),
  })),
  {
    name: 'an outage: many queries fail, and the others are slow',
    rows: { 'query-hours': createQuietHours({ errors: 100, p95Ms: 9_000 }) },
    expected: [...expectInsight('error-rate', ''), ...expectInsight('p95-duration', '')],
  },
  {
    name: 'only four days of history, and statements are slow',
    rows: { 'query-hours': createQuietHours({ p95Ms: 5_000 }, 4 * 24) },
    expected: expectInsight('p95-duration', ''),
  },
  {
    name: 'a new error code beside an old one',
    rows: {
      'error-codes': [createErrorCode(), createErrorCode({ code: 241, name: 'MEMORY_LIMIT_EXCEEDED', before: 0 })],
    },
    expected: expectInsight('new-error-code', '241'),
  },
  {
    name: 'a new pattern takes a third of the time',
    rows: { 'fingerprint-days': [...createPatternDays(), ...createPatternDays({ hash: '43', totalMs: 40_000 }, 1)] },
    expected: expectInsight('new-pattern', '43'),
  },
  {
    name: 'a pattern is slower since the server was upgraded',
    rows: { 'fingerprint-days': createPatternDays({ p95Ms: 1_500, revision: 54_480 }) },
    expected: expectInsight('pattern-regression', '42'),
  },
  {
    name: 'a pattern reads ten times the parts and is slower',
    rows: { 'fingerprint-days': createPatternDays({ p95Ms: 900, selectedParts: 100 }) },
    expected: expectInsight('pattern-regression', '42'),
  },
  {
    name: 'inserts have stopped',
    rows: { inserts: [createTableInserts({ lastHour: 0 })] },
    expected: expectInsight('insert-stopped'),
  },
  {
    name: 'inserts of one table of two have stopped',
    rows: { inserts: [createTableInserts(), createTableInserts({ table: 'events', lastHour: 0 })] },
    expected: expectInsight('insert-stopped', 'shop.events'),
  },
  {
    name: 'many parts',
    rows: { tables: [createTable({ partsInFullestPartition: 320 })] },
    expected: expectInsight('fragmentation'),
  },
  {
    name: 'data that hardly compresses',
    rows: { tables: [createTable({ uncompressedBytes: 3.2 * gibibyte })] },
    expected: expectInsight('compression'),
  },
  {
    name: 'a TTL is not applied',
    rows: { 'expired-parts': [{ ...place, parts: 12, oldestHours: 200, bytes: gibibyte }] },
    expected: expectInsight('ttl-health'),
  },
  {
    name: 'the Keeper session is lost',
    rows: { replicas: [createReplica({ isReadonly: true })] },
    expected: expectInsight('readonly-replica'),
  },
  {
    name: 'a replica lags',
    rows: { replicas: [createReplica({ delaySeconds: 900 })] },
    expected: expectInsight('replica-lag'),
  },
  {
    name: 'parts are detached',
    rows: { 'detached-parts': [{ ...place, parts: 60 }] },
    expected: expectInsight('detached-parts'),
  },
  {
    name: 'a mutation fails',
    rows: { mutations: [createMutation({ isFailing: true })] },
    expected: expectInsight('stuck-mutation', `${table} mutation_1.txt`),
  },
  {
    name: 'a mutation runs for two hours',
    rows: { mutations: [createMutation({ ageSeconds: 7_200 })] },
    expected: expectInsight('stuck-mutation', `${table} mutation_1.txt`),
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
    expected: expectInsight('long-query', '7'),
  },
  {
    name: 'the source of a dictionary is unavailable',
    rows: { dictionaries: [{ database: 'shop', name: 'countries', status: 'FAILED', isFailing: true }] },
    expected: expectInsight('failed-dictionary', 'shop.countries'),
  },
  {
    name: 'parts grow until inserts are rejected',
    rows: { 'part-hours': createPartHours((hoursAgo) => 2_000 - hoursAgo * 40) },
    expected: expectInsight('parts-refused', ''),
  },
  {
    name: 'a disk fills steadily',
    rows: { 'disk-hours': createDiskHours((hoursAgo) => 900 - hoursAgo * 0.5 + computeNoise(hoursAgo)) },
    expected: expectInsight('disk-full', 'default'),
  },
  {
    name: 'a disk fills again after a deletion',
    rows: { 'disk-hours': createDiskHours((hoursAgo) => (hoursAgo > 100 ? 950 : 900 - hoursAgo * 2)) },
    expected: expectInsight('disk-full', 'default'),
  },
  {
    name: 'a host was not upgraded with its group',
    rows: {},
    fleet: {
      self: createHostFacts({ version: '25.8.2' }),
      peers: [createHostFacts({ version: '26.3.1.7' }), createHostFacts({ version: '26.3.1.7' })],
    },
    expected: expectInsight('version-drift', ''),
  },
  {
    name: 'a replica on which a statement takes five times as long',
    rows: {},
    fleet: {
      self: createComparedHost({ p95Ms: 1_500 }),
      peers: [createComparedHost(), createComparedHost({ p95Ms: 310 })],
    },
    expected: expectInsight('pattern-skew', '42'),
  },
  {
    name: 'a setting differs on one host',
    rows: {},
    fleet: { self: createComparedHost({}, {}), peers: [createComparedHost(), createComparedHost()] },
    expected: expectInsight('settings-drift', ''),
  },
  {
    name: 'a clock half a minute slow',
    rows: {},
    fleet: { ...singleHost, self: createHostFacts({ clockSkewMs: -30_000 }) },
    expected: expectInsight('clock-skew', ''),
  },
]

/** Scenarios in which no detector may report an insight. */
const quietScenarios: readonly DetectorScenario[] = [
  { name: 'four quiet weeks', rows: { 'query-hours': createQuietHours() } },
  { name: 'a busy hour', rows: { 'query-hours': createQuietHours({ calls: 5_000, errors: 55 }) } },
  { name: 'three failures in ten calls', rows: { 'query-hours': createQuietHours({ calls: 10, errors: 3 }) } },
  { name: 'a little slower', rows: { 'query-hours': createQuietHours({ p95Ms: 180 }) } },
  {
    name: 'slow at this hour on every day',
    rows: {
      'query-hours': createQuietHours().map((row) =>
        row.hoursAgo % 24 <= 1 || row.hoursAgo % 24 === 23 ? { ...row, p95Ms: 4_000 } : row,
      ),
    },
  },
  { name: 'a day of history', rows: { 'query-hours': createQuietHours({ p95Ms: 9_000 }, 24) } },
  { name: 'an old error code that comes more often', rows: { 'error-codes': [createErrorCode({ recent: 900 })] } },
  {
    name: 'a new log, in which every error code is new',
    rows: { 'error-codes': [createErrorCode({ before: 0, historyHours: 20 })] },
  },
  {
    name: 'a new pattern with a negligible share',
    rows: { 'fingerprint-days': [...createPatternDays(), ...createPatternDays({ hash: '43', totalMs: 50 }, 1)] },
  },
  { name: 'a pattern a little slower', rows: { 'fingerprint-days': createPatternDays({ p95Ms: 450 }) } },
  {
    name: 'a table that is filled at night',
    rows: { inserts: [createTableInserts({ lastHour: 0, dayAgo: 0, weekAgo: 0, activeHours: 3 })] },
  },
  {
    name: 'tables without problems',
    rows: { tables: [createTable(), createTable({ table: 'small', compressedBytes: 500, uncompressedBytes: 600 })] },
  },
  {
    name: 'replicas that keep up',
    rows: { replicas: [createReplica(), createReplica({ table: 'events', delaySeconds: 5 })] },
  },
  { name: 'a running mutation', rows: { mutations: [createMutation()] } },
  {
    name: 'a disk with constant usage',
    rows: { 'disk-hours': createDiskHours((hoursAgo) => 700 + computeNoise(hoursAgo)) },
  },
  { name: 'a disk that fills in a year', rows: { 'disk-hours': createDiskHours((hoursAgo) => 200 - hoursAgo * 0.05) } },
  {
    name: 'varying numbers of parts',
    rows: { 'part-hours': createPartHours((hoursAgo) => 400 + computeNoise(hoursAgo) * 20) },
  },
  {
    name: 'a statement that is equally slow on every replica',
    rows: {},
    fleet: {
      self: createComparedHost({ p95Ms: 1_500 }),
      peers: [createComparedHost({ p95Ms: 1_400 }), createComparedHost({ p95Ms: 1_450 })],
    },
  },
  {
    name: 'hosts that all have different settings',
    rows: {},
    fleet: {
      self: createComparedHost({}, { a: '1' }),
      peers: [createComparedHost({}, { a: '2' }), createComparedHost({}, { a: '3' })],
    },
  },
  {
    name: 'groups with different versions',
    rows: {},
    fleet: {
      self: createHostFacts(),
      peers: [createHostFacts({ group: 'eu', version: '25.8.2' }), createHostFacts({ version: null })],
    },
  },
].map((scenario) => ({ ...scenario, expected: [] }))

/** All scenarios. */
export const detectorScenarios: readonly DetectorScenario[] = [...incidentScenarios, ...quietScenarios]
