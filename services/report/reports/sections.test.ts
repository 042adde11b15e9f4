import { describe, expect, it } from 'vitest'
import type { ReportRow } from '#proto/report-rows.ts'
import {
  createReport,
  testReportSubject,
  createHistoryEntry,
  createReportData,
  weekStartMs,
} from '../testing/reports.ts'
import { createInsight } from '../testing/insights.ts'
import { createDiskHours } from '../testing/rows.ts'
import { scoreReport, createReportId, composeReport } from './write-report.ts'
import { summarizeIncidents } from './sections/incidents.ts'

const hourMs = 3_600_000
const report = (more: Parameters<typeof createReportData>[0] = {}) =>
  composeReport(testReportSubject, createReportData(more))

describe('the alerts of a report', () => {
  it('are read from the history lines of the period', () => {
    const history = [
      createHistoryEntry('fire', 3),
      createHistoryEntry('escalate', 5, { severity: 'critical' }),
      createHistoryEntry('recover', 9),
      createHistoryEntry('remind', 4, { episode: 'old', sinceMs: weekStartMs - 50 * hourMs, title: 'Replica lag' }),
      createHistoryEntry('held', 4, { episode: 'unheard' }),
    ]
    const silence = { kind: 'ack' as const, hostKey: 'box', ruleId: 'disk-usage', by: 'ada', note: '', atMs: 0 }
    expect(summarizeIncidents(history, [{ ...silence, episode: 'old', untilMs: null }])).toEqual({
      total: 2,
      fired: 1,
      critical: 1,
      open: 1,
      flapping: [],
      list: [
        expect.objectContaining({ title: 'Replica lag', endedAtMs: null, acknowledgedBy: 'ada' }),
        {
          ruleId: 'disk-usage',
          title: 'Disk usage',
          severity: 'critical',
          sinceMs: weekStartMs + 2 * hourMs,
          endedAtMs: weekStartMs + 9 * hourMs,
          acknowledgedBy: null,
        },
      ],
    })
  })

  it('flap if the same alert fired three times', () => {
    const lines = ['a', 'b', 'c'].flatMap((episode, at) => [
      createHistoryEntry('fire', at, { episode }),
      createHistoryEntry('recover', at + 1, { episode }),
    ])
    expect(summarizeIncidents(lines, [])).toMatchObject({ fired: 3, open: 0, flapping: ['Disk usage'] })
  })
})

type Pattern = ReportRow<'patterns'>
const pattern = (more: Partial<Pattern>): Pattern => ({
  hash: '1',
  text: 'SELECT ?',
  kind: 'Select',
  calls: 100,
  callsBefore: 100,
  totalMs: 10_000,
  totalMsBefore: 10_000,
  p95Ms: 100,
  p95MsBefore: 100,
  readBytes: 5,
  readBytesBefore: 5,
  allMs: 100_000,
  allMsBefore: 0,
  ...more,
})
const totals = (isBefore: number, calls: number, errors = 0): ReportRow<'statement-totals'> => ({
  isBefore,
  calls,
  errors,
  totalMs: 10,
  p50Ms: 1,
  p95Ms: 2,
  peakMemoryBytes: 3,
})

describe('the patterns of a report', () => {
  const rows = {
    'statement-totals': [totals(0, 10), totals(1, 10)],
    patterns: [
      pattern({ hash: 'steady' }),
      pattern({ hash: 'slower', p95Ms: 300 }),
      pattern({ hash: 'much slower', p95Ms: 900, calls: 50 }),
      pattern({ hash: 'faster', p95Ms: 20 }),
      pattern({ hash: 'rare', p95Ms: 900, calls: 19 }),
      pattern({ hash: 'by little', p95Ms: 30, p95MsBefore: 10 }),
      pattern({ hash: 'new', callsBefore: 0, p95MsBefore: null, totalMsBefore: 0 }),
    ],
  }

  it('are those with large changes and enough calls, ordered by cost', () => {
    const { regressions, improvements, newPatterns } = report({ rows })
    expect(regressions.map(({ hash }) => hash)).toEqual(['much slower', 'slower'])
    expect(improvements.map(({ hash }) => hash)).toEqual(['faster'])
    expect(newPatterns).toMatchObject([{ hash: 'new', share: 0.1, shareBefore: null }])
  })

  it('are not new if the query log has no entries of the previous period, with a note', () => {
    const { newPatterns, notes } = report({ rows: { ...rows, 'statement-totals': [totals(0, 10)] } })
    expect(newPatterns).toEqual([])
    expect(notes).toEqual(['patterns: not enough history, the query log has no entries of the previous period'])
  })
})

describe('the other sections of a report', () => {
  it('contains the growth and the forecast of a disk', () => {
    const rows = { 'disk-hours': createDiskHours((hoursAgo) => 900 - hoursAgo * 0.5) }
    const [disk] = report({ rows, writtenAtMs: weekStartMs + 168 * hourMs }).disks
    expect(disk).toMatchObject({ disk: 'default', grewBytes: 167 * 0.5 * 1_024 ** 3 })
    expect(disk?.daysToFull?.soonest).toBeCloseTo(100 / 12, 5)
    expect(disk?.forecast).toBe('full in 8.33 days at this rate')
  })

  it('explains in words that a disk has too little history', () => {
    const [disk] = report({ rows: { 'disk-hours': createDiskHours(() => 900, 24) } }).disks
    expect(disk).toMatchObject({
      daysToFull: null,
      grewBytes: null,
      forecast: expect.stringMatching(/not enough history/),
    })
  })

  it('lists the changes since the previous report, if there is one', () => {
    const settings = [
      { name: 'a', valueHash: '2' },
      { name: 'b', valueHash: '1' },
    ]
    const changes = { version: '26.3', versionBefore: null, settings: null, restarts: 0 }
    const before = createReport('a', { settings: { a: '1', b: '1', c: '1' }, changes })
    expect(report({ settings, before, version: '26.7' }).changes).toMatchObject({
      versionBefore: '26.3',
      settings: ['a', 'c'],
    })
    expect(report({ settings }).changes).toMatchObject({ versionBefore: null, settings: null })
  })

  it('recommends undismissed insights of the period once per kind and subject', () => {
    const at = (hour: number) => ({ foundAtMs: weekStartMs + hour * hourMs })
    const insights = [
      createInsight('a', at(1)),
      createInsight('b', at(30)),
      createInsight('c', { ...at(2), subject: 'x', severity: 'critical' }),
      createInsight('d', { ...at(2), subject: 'y', dismissed: { by: 'ada', atMs: 1 } }),
      createInsight('e', { ...at(-2), subject: 'z' }),
    ]
    expect(report({ insights }).recommendations.map(({ subject }) => subject)).toEqual(['x', `it's \\ "so"`])
  })

  it('contains texts instead of numbers for a host without data', () => {
    const nothing = report({ notes: ['patterns: host box has no table system.query_log'] })
    expect(JSON.stringify(nothing)).not.toMatch(/NaN|Infinity/)
    expect(nothing).toMatchObject({ score: 100, incidents: null, statements: null })
  })

  it('has one id per host, week and zone, and one per custom period', () => {
    const { period } = createReportData()
    const ids = [
      createReportId(testReportSubject, period),
      createReportId({ ...testReportSubject, zone: 'Europe/Berlin' }, period),
      createReportId({ ...testReportSubject, hostKey: 'other' }, period),
      createReportId({ ...testReportSubject, week: null }, period),
      createReportId({ ...testReportSubject, week: null }, { ...period, toMs: period.toMs - 1 }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    expect(createReportId(testReportSubject, { fromMs: 1, toMs: 2 })).toBe(ids[0])
  })
})

describe('the score', () => {
  const empty = report()
  const incidents = { total: 3, fired: 3, critical: 1, open: 1, flapping: [], list: [] }
  it.each([
    [{}, null, '100 of 100: no findings.'],
    [{}, 90, '100 of 100, 10 more than in the previous week: no findings.'],
    [{ incidents }, 82, '82 of 100, unchanged from the previous week: 3 alerts, 1 of them still open.'],
    [
      { incidents: { ...incidents, total: 40, critical: 40 } },
      5,
      '0 of 100, 5 less than in the previous week: 40 alerts, 1 of them still open.',
    ],
    [{ safeguards: { ...empty.safeguards, failedBackups: 2 } }, null, '95 of 100: 2 backups failed.'],
    [{ coverage: { ...empty.coverage, watchedHours: 12 } }, null, '95 of 100: monitored in only 12 of 168 hours.'],
  ])('for %j after %s is %s', (more, before, headline) => {
    expect(scoreReport({ ...empty, ...more }, before).headline).toBe(headline)
  })
})
