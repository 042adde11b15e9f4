import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  aHost,
  alone,
  aTable,
  comparedHost,
  diskHours,
  errorCode,
  inserts,
  look,
  mutation,
  partHours,
  patternDays,
  quietHours,
  type Rows,
} from '../testing/rows.ts'
import { scenarios } from '../testing/scenarios.ts'
import { detectors } from './index.ts'

describe('the detectors', () => {
  it('are all listed, each under the name of its file', () => {
    const files = readdirSync(import.meta.dirname).filter((name) => !name.startsWith('index.'))
    expect(detectors.map(({ kind }) => `${kind}.ts`).toSorted()).toEqual(files.toSorted())
  })

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    (_name, { rows, expected, fleet = alone }) => {
      const seen = detectors.flatMap((detector) =>
        detector.look(rows, fleet).sights.map(({ subject }) => ({ kind: detector.kind, subject })),
      )
      expect(seen).toEqual(expected)
    },
  )

  it('say what they saw in numbers that are numbers, with words and a reason to believe it', () => {
    const sights = scenarios.flatMap(({ rows, fleet = alone }) =>
      detectors.flatMap((detector) => detector.look(rows, fleet).sights),
    )
    for (const { value, score, title, detail } of sights) {
      expect([value ?? 0, score ?? 0].every(Number.isFinite)).toBe(true)
      expect(`${title} ${detail}`).not.toMatch(/NaN|Infinity|undefined|null/)
    }
  })

  it('find nothing in nothing', () => {
    for (const detector of detectors) expect(detector.look({}, alone).sights).toEqual([])
  })
})

const cases: readonly (readonly [string, string, Rows, RegExp | null])[] = [
  ['an empty history', 'error-rate', { 'query-hours': [] }, /not enough history/],
  ['an empty history', 'p95-duration', { 'query-hours': [] }, /not enough history/],
  ['an empty history', 'peak-memory', { 'query-hours': [] }, /not enough history/],
  ['an empty history', 'parts-refused', { 'part-hours': [] }, /not enough history/],
  ['a history of a day', 'disk-full', { 'disk-hours': diskHours(() => 900, 24) }, /not enough history/],
  [
    'a history of a day',
    'new-error-code',
    { 'error-codes': [errorCode({ before: 0, historyHours: 24 })] },
    /not enough history/,
  ],
  [
    'a history of a day',
    'new-pattern',
    { 'fingerprint-days': patternDays({ historyHours: 24 }, 1) },
    /not enough history/,
  ],
  [
    'a history of two days',
    'pattern-regression',
    { 'fingerprint-days': patternDays({ p95Ms: 9_000 }, 2) },
    /not enough history/,
  ],
  [
    'a history of a day',
    'insert-stopped',
    { inserts: [inserts({ lastHour: 0, historyHours: 24 })] },
    /not enough history/,
  ],
  [
    'a clock that was set back',
    'error-rate',
    { 'query-hours': [...quietHours({}, 1).map((row) => ({ ...row, hoursAgo: -2 })), ...quietHours({ errors: 99 })] },
    /of the future/,
  ],
  [
    'a clock that was set back',
    'p95-duration',
    { 'query-hours': [...quietHours({}, 1).map((row) => ({ ...row, hoursAgo: -2 })), ...quietHours({ p95Ms: 9_000 })] },
    /of the future/,
  ],
  [
    'a clock that was set back',
    'stuck-mutation',
    { mutations: [mutation({ ageSeconds: -90, isFailing: true })] },
    /set back/,
  ],
  ['no number', 'p95-duration', { 'query-hours': quietHours({ p95Ms: null }) }, /tells no number/],
  ['no number', 'peak-memory', { 'query-hours': quietHours({ peakMemoryBytes: null }) }, /tells no number/],
  ['no number', 'disk-full', { 'disk-hours': diskHours(() => null) }, /tells no numbers/],
  [
    'a limit of none',
    'parts-refused',
    { 'part-hours': partHours((hour) => 2_000 - hour).map((row) => ({ ...row, refusedAt: null })) },
    /not enough history/,
  ],
  [
    'a table with one row',
    'compression',
    { tables: [aTable({ rows: 1, uncompressedBytes: 3 * 1_024 ** 3 })] },
    /too few rows/,
  ],
  ['a table without known sizes', 'compression', { tables: [aTable({ uncompressedBytes: null })] }, null],
]

describe('bad input', () => {
  it.each(cases)('%s gives %s words instead of a number', (_what, kind, rows, words) => {
    const { sights, notes } = look(kind, rows)
    expect(sights).toEqual([])
    if (words === null) expect(notes.join(' ')).not.toMatch(/NaN|Infinity/)
    else expect(notes.join(' ')).toMatch(words)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('%d is refused at the door, where rows are checked', (value) => {
    expect(() => look('p95-duration', { 'query-hours': quietHours({ p95Ms: value }) })).toThrow('p95Ms')
  })
})

describe('a host among others', () => {
  it('whose clock or version is not known is spoken of in words', () => {
    const fleet = { self: aHost({ version: null, clockSkewMs: null }), peers: [aHost()] }
    expect(look('version-drift', {}, fleet)).toEqual({ sights: [], notes: ['version: it is not known'] })
    expect(look('clock-skew', {}, fleet).notes).toEqual(['clock: it is not known how far it is off'])
  })

  it('of two the older one drifts', () => {
    const old = aHost({ version: '26.3.1.7' })
    const young = aHost({ version: '26.3.10.2' })
    const drifts = (self: typeof old, peer: typeof old) => look('version-drift', {}, { self, peers: [peer] }).sights
    expect(drifts(old, young)).toMatchObject([
      { severity: 'info', title: 'Runs 26.3.1.7 where its group runs 26.3.10.2' },
    ])
    expect(drifts(young, old)).toEqual([])
  })
})

describe('a slower pattern', () => {
  const why = (now: Parameters<typeof patternDays>[0], more: Rows = {}) =>
    look('pattern-regression', { 'fingerprint-days': patternDays({ p95Ms: 3_000, ...now }), ...more }).sights[0]?.detail

  it.each([
    [{ revision: 54_480 }, 'the server changed its version'],
    [{ settingsHash: 'b' }, 'its settings changed'],
    [{ selectedParts: 90 }, 'it reads 90 parts instead of 10'],
    [{ readRows: 9_000 }, 'the data that it reads is 9 times as much'],
    [{ marksShare: 1, readRows: 9_000 }, 'its plan reads 100 % of the data instead of 10 %'],
    [{}, 'Nothing else is known to have changed'],
  ])('with %j is explained', (now, words) => {
    expect(why(now)).toContain(words)
  })

  it('is explained by a change of the schema of what it reads, and by no other', () => {
    const change = (name: string, daysAgo: number) => ({ table: name, daysAgo, changes: 1 })
    expect(why({}, { 'schema-changes': [change('shop.orders', 0)] })).toContain('the schema of shop.orders changed')
    expect(why({}, { 'schema-changes': [change('shop.other', 0), change('shop.orders', 5)] })).toContain('Nothing else')
  })
})

describe('a pattern beside that of other hosts', () => {
  const peers = [comparedHost(), comparedHost()]
  const skew = (...given: Parameters<typeof comparedHost>) =>
    look('pattern-skew', {}, { self: comparedHost(...given), peers }).sights[0]?.detail

  it.each([
    [{ selectedParts: 90 }, 'it reads 90 parts instead of 10'],
    [{ marksShare: 1 }, 'its plan reads 100 % of the data instead of 10 %'],
    [{ readRows: 9_000 }, 'the data that it reads is 9 times as much'],
    [{}, 'Nothing else is known to be different'],
  ])('with %j is explained', (more, words) => {
    expect(skew({ p95Ms: 3_000, ...more })).toContain(words)
  })

  it('is explained by the version where it alone runs it', () => {
    const self = { ...comparedHost({ p95Ms: 3_000 }), version: '26.7.2.1' }
    expect(look('pattern-skew', {}, { self, peers }).sights[0]?.detail).toContain('it runs another version')
  })

  it('is compared with hosts of the same group only, of which there are two', () => {
    const self = comparedHost({ p95Ms: 3_000 }, {})
    const elsewhere = peers.map((peer) => ({ ...peer, group: 'eu' }))
    expect(look('pattern-skew', {}, { self, peers: elsewhere })).toEqual({ sights: [], notes: [] })
    const one = { self, peers: [comparedHost(), aHost()] }
    expect(look('pattern-skew', {}, one)).toEqual({ sights: [], notes: [expect.stringContaining('fewer than two')] })
    expect(look('settings-drift', {}, one)).toEqual({ sights: [], notes: [expect.stringContaining('fewer than two')] })
  })

  it('names settings that are other than the rest of the group agrees on', () => {
    const set = (settings: Record<string, string>) => comparedHost({}, settings)
    const fleet = {
      self: set({ a: '1', b: '1' }),
      peers: [set({ a: '2', c: '1', b: '1' }), set({ a: '2', c: '1', b: '1' })],
    }
    expect(look('settings-drift', {}, fleet).sights).toMatchObject([
      { title: '2 settings are other than in its group', detail: 'a, c: 2 other hosts agree on them.', value: 2 },
    ])
  })
})
