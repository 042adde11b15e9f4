import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  createHostFacts,
  singleHost,
  createTable,
  createComparedHost,
  createDiskHours,
  createErrorCode,
  createTableInserts,
  runDetector,
  createMutation,
  createPartHours,
  createPatternDays,
  createQuietHours,
  type InsightRows,
} from '../testing/rows.ts'
import { detectorScenarios } from '../testing/scenarios.ts'
import { detectors } from './index.ts'

describe('the detectors', () => {
  it('are all listed under their file names', () => {
    const files = readdirSync(import.meta.dirname).filter((name) => !name.startsWith('index.'))
    expect(detectors.map(({ kind }) => `${kind}.ts`).toSorted()).toEqual(files.toSorted())
  })

  it.each(detectorScenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    (_name, { rows, expected, fleet = singleHost }) => {
      const seen = detectors.flatMap((detector) =>
        detector.evaluate(rows, fleet).observations.map(({ subject }) => ({ kind: detector.kind, subject })),
      )
      expect(seen).toEqual(expected)
    },
  )

  it('report finite values with a text and a confidence', () => {
    const observations = detectorScenarios.flatMap(({ rows, fleet = singleHost }) =>
      detectors.flatMap((detector) => detector.evaluate(rows, fleet).observations),
    )
    for (const { value, score, title, detail } of observations) {
      const text = typeof detail === 'string' ? detail : detail((seconds) => (Number.isFinite(seconds) ? '…' : 'NaN'))
      expect([value ?? 0, score ?? 0].every(Number.isFinite)).toBe(true)
      expect(`${title} ${text}`).not.toMatch(/NaN|Infinity|undefined|null/)
      // An age in a stored text would be wrong when it is read.
      expect(`${title} ${text}`).not.toMatch(/\bago\b|\bfor \d|\bin \d|last (hour|day|\d)/)
    }
  })

  it('report nothing without rows', () => {
    for (const detector of detectors) expect(detector.evaluate({}, singleHost).observations).toEqual([])
  })
})

const cases: readonly (readonly [string, string, InsightRows, RegExp | null])[] = [
  ['an empty history', 'error-rate', { 'query-hours': [] }, /not enough history/],
  ['an empty history', 'p95-duration', { 'query-hours': [] }, /not enough history/],
  ['an empty history', 'peak-memory', { 'query-hours': [] }, /not enough history/],
  ['an empty history', 'parts-refused', { 'part-hours': [] }, /not enough history/],
  ['a history of a day', 'disk-full', { 'disk-hours': createDiskHours(() => 900, 24) }, /not enough history/],
  [
    'a history of a day',
    'new-error-code',
    { 'error-codes': [createErrorCode({ before: 0, historyHours: 24 })] },
    /not enough history/,
  ],
  [
    'a history of a day',
    'new-pattern',
    { 'fingerprint-days': createPatternDays({ historyHours: 24 }, 1) },
    /not enough history/,
  ],
  [
    'a history of two days',
    'pattern-regression',
    { 'fingerprint-days': createPatternDays({ p95Ms: 9_000 }, 2) },
    /not enough history/,
  ],
  [
    'a history of a day',
    'insert-stopped',
    { inserts: [createTableInserts({ lastHour: 0, historyHours: 24 })] },
    /not enough history/,
  ],
  [
    'a clock that was set back',
    'error-rate',
    {
      'query-hours': [
        ...createQuietHours({}, 1).map((row) => ({ ...row, hoursAgo: -2 })),
        ...createQuietHours({ errors: 99 }),
      ],
    },
    /from the future/,
  ],
  [
    'a clock that was set back',
    'p95-duration',
    {
      'query-hours': [
        ...createQuietHours({}, 1).map((row) => ({ ...row, hoursAgo: -2 })),
        ...createQuietHours({ p95Ms: 9_000 }),
      ],
    },
    /from the future/,
  ],
  [
    'a clock that was set back',
    'stuck-mutation',
    { mutations: [createMutation({ ageSeconds: -90, isFailing: true })] },
    /set back/,
  ],
  ['no number', 'p95-duration', { 'query-hours': createQuietHours({ p95Ms: null }) }, /not reported by this host/],
  [
    'no number',
    'peak-memory',
    { 'query-hours': createQuietHours({ peakMemoryBytes: null }) },
    /not reported by this host/,
  ],
  ['no number', 'disk-full', { 'disk-hours': createDiskHours(() => null) }, /not reported by this host/],
  [
    'a missing limit',
    'parts-refused',
    { 'part-hours': createPartHours((hour) => 2_000 - hour).map((row) => ({ ...row, refusedAt: null })) },
    /not enough history/,
  ],
  [
    'a table with one row',
    'compression',
    { tables: [createTable({ rows: 1, uncompressedBytes: 3 * 1_024 ** 3 })] },
    /too few rows/,
  ],
  ['a table without known sizes', 'compression', { tables: [createTable({ uncompressedBytes: null })] }, null],
]

describe('incomplete or invalid rows', () => {
  it.each(cases)('with %s, %s reports a note instead of a value', (_what, kind, rows, words) => {
    const { observations, notes } = runDetector(kind, rows)
    expect(observations).toEqual([])
    if (words === null) expect(notes.join(' ')).not.toMatch(/NaN|Infinity/)
    else expect(notes.join(' ')).toMatch(words)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('rejects %d when rows are validated', (value) => {
    expect(() => runDetector('p95-duration', { 'query-hours': createQuietHours({ p95Ms: value }) })).toThrow('p95Ms')
  })
})

describe('comparing a host with others', () => {
  it('adds a note if the clock or version is unknown', () => {
    const fleet = { self: createHostFacts({ version: null, clockSkewMs: null }), peers: [createHostFacts()] }
    expect(runDetector('version-drift', {}, fleet)).toEqual({
      observations: [],
      notes: ['version: not reported by this host'],
    })
    expect(runDetector('clock-skew', {}, fleet).notes).toEqual(['clock: not reported by this host'])
  })

  it('reports the host with the older of two versions', () => {
    const old = createHostFacts({ version: '26.3.1.7' })
    const young = createHostFacts({ version: '26.3.10.2' })
    const drifts = (self: typeof old, peer: typeof old) =>
      runDetector('version-drift', {}, { self, peers: [peer] }).observations
    expect(drifts(old, young)).toMatchObject([{ severity: 'info', title: 'Runs 26.3.1.7, its group runs 26.3.10.2' }])
    expect(drifts(young, old)).toEqual([])
  })
})

describe('a slower pattern', () => {
  const why = (now: Parameters<typeof createPatternDays>[0], more: InsightRows = {}) =>
    runDetector('pattern-regression', { 'fingerprint-days': createPatternDays({ p95Ms: 3_000, ...now }), ...more })
      .observations[0]?.detail

  it.each([
    [{ revision: 54_480 }, 'the server version changed'],
    [{ settingsHash: 'b' }, 'its settings changed'],
    [{ selectedParts: 90 }, 'it reads 90 parts instead of 10'],
    [{ readRows: 9_000 }, 'the data that it reads is 9 times as much'],
    [{ marksShare: 1, readRows: 9_000 }, 'its plan reads 100 % of the data instead of 10 %'],
    [{}, 'No other change was found'],
  ])('is explained for %j', (now, words) => {
    expect(why(now)).toContain(words)
  })

  it('is explained by schema changes of the tables it reads only', () => {
    const change = (name: string, daysAgo: number) => ({ table: name, daysAgo, changes: 1 })
    expect(why({}, { 'schema-changes': [change('shop.orders', 0)] })).toContain('the schema of shop.orders changed')
    expect(why({}, { 'schema-changes': [change('shop.other', 0), change('shop.orders', 5)] })).toContain(
      'No other change',
    )
  })
})

describe('a pattern compared with other hosts', () => {
  const peers = [createComparedHost(), createComparedHost()]
  const skew = (...args: Parameters<typeof createComparedHost>) =>
    runDetector('pattern-skew', {}, { self: createComparedHost(...args), peers }).observations[0]?.detail

  it.each([
    [{ selectedParts: 90 }, 'it reads 90 parts instead of 10'],
    [{ marksShare: 1 }, 'its plan reads 100 % of the data instead of 10 %'],
    [{ readRows: 9_000 }, 'the data that it reads is 9 times as much'],
    [{}, 'No other difference was found'],
  ])('is explained for %j', (more, words) => {
    expect(skew({ p95Ms: 3_000, ...more })).toContain(words)
  })

  it('is explained by the version if no other host runs it', () => {
    const self = { ...createComparedHost({ p95Ms: 3_000 }), version: '26.7.2.1' }
    expect(runDetector('pattern-skew', {}, { self, peers }).observations[0]?.detail).toContain('the version differs')
  })

  it('is compared only with two or more hosts of the same group', () => {
    const self = createComparedHost({ p95Ms: 3_000 }, {})
    const elsewhere = peers.map((peer) => ({ ...peer, group: 'eu' }))
    expect(runDetector('pattern-skew', {}, { self, peers: elsewhere })).toEqual({ observations: [], notes: [] })
    const one = { self, peers: [createComparedHost(), createHostFacts()] }
    expect(runDetector('pattern-skew', {}, one)).toEqual({
      observations: [],
      notes: [expect.stringContaining('fewer than two')],
    })
    expect(runDetector('settings-drift', {}, one)).toEqual({
      observations: [],
      notes: [expect.stringContaining('fewer than two')],
    })
  })

  it('names settings that differ from those the rest of the group agrees on', () => {
    const set = (settings: Record<string, string>) => createComparedHost({}, settings)
    const fleet = {
      self: set({ a: '1', b: '1' }),
      peers: [set({ a: '2', c: '1', b: '1' }), set({ a: '2', c: '1', b: '1' })],
    }
    expect(runDetector('settings-drift', {}, fleet).observations).toMatchObject([
      {
        title: '2 settings differ from its group',
        detail: 'a, c: 2 other hosts of the group agree on another value.',
        value: 2,
      },
    ])
  })
})
