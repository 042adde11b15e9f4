import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Catalogue } from '#proto/catalogue.ts'
import { openDefinitions } from './definitions.ts'
import { leadingCharts, leadingTables, topics } from './topics.ts'

let directory: string
const warned: Record<string, unknown>[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => warned.push(JSON.parse(line)) })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-definitions-'))
  warned.length = 0
})
afterEach(() => rm(directory, { recursive: true }))

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(join(directory, path, '..'), { recursive: true })
  await writeFile(join(directory, path), text)
}
const number = (more = ''): string =>
  `title: T\ndoc: D.\nfeature: OVERVIEW\nkind: number\ncolumns: [{ name: a, role: value }]\nsql: SELECT 1 AS a\n${more}`
const series = (more: string): string =>
  `title: T\ndoc: D.\nfeature: OVERVIEW\nkind: line\ncolumns: [{ name: t, role: time }, { name: a, role: value }]\n${more}`
const rule = (more: string): string =>
  `title: T\ndoc: D.\nthresholds: { warning: 1 }\nrunbook: ${'Look at it. '.repeat(10)}\n${more}`
const table = (more: string): string => `title: T\ndoc: D.\nfeature: OVERVIEW\ncolumns: [{ name: a }]\n${more}`

describe('built-in definitions', () => {
  it('form a catalogue in menu order, without SQL', async () => {
    const { catalogue, charts, tables } = await openDefinitions(log)
    expect(Catalogue.parse(catalogue)).toEqual(catalogue)
    expect(charts.length).toBeGreaterThanOrEqual(16)
    expect(tables.length).toBeGreaterThanOrEqual(10)
    const used = new Set([...charts, ...tables].map((definition) => definition.topic))
    expect(catalogue.topics).toEqual(topics.filter((topic) => used.has(topic.id)))
    expect(JSON.stringify(catalogue)).not.toMatch(/SELECT/)
    expect(warned).toEqual([])
  })

  const firsts = [
    ...Object.entries(leadingCharts).map(([topic, first]) => ['charts', topic, first] as const),
    ...Object.entries(leadingTables).map(([topic, first]) => ['tables', topic, first] as const),
  ]
  it.each(firsts)('list the most important %s of %s first', async (kind, topic, first) => {
    const { catalogue } = await openDefinitions(log)
    const names = catalogue[kind].filter((definition) => definition.topic === topic).map(({ name }) => name)
    expect(names.slice(0, first.length)).toEqual(first)
  })

  it('must all be valid', async () => {
    await write('overview/broken.chart.yaml', number('colour: red'))
    const problem = expect.stringMatching(/^overview\/broken\.chart\.yaml: .*colour/)
    // A `ServiceError` is reported as a sentence, without a stack.
    const opening = openDefinitions(log, undefined, directory)
    await expect(opening).rejects.toMatchObject({ name: 'ServiceError', message: problem })
  })

  it.each([
    ['chart', 'query-coutn', 'query-count'],
    ['metric', 'running-query', 'running-queries'],
    ['chart', 'memory', 'query-memory'],
    ['table', 'diskz', 'disks'],
  ] as const)('suggest similar names for the unknown %s %s', async (kind, name, nearest) => {
    const definitions = await openDefinitions(log)
    expect(() => definitions[kind](name)).toThrow(
      expect.objectContaining({
        code: 'not-found',
        details: { parameter: 'name', nearest: expect.arrayContaining([nearest]) },
      }),
    )
  })

  it('suggest similar rules under their route name', async () => {
    const definitions = await openDefinitions(log)
    expect(() => definitions.rule('disk-usgae')).toThrow(
      expect.objectContaining({
        code: 'not-found',
        details: { parameter: 'ruleId', nearest: expect.arrayContaining(['disk-usage']) },
      }),
    )
  })
})

describe('mounted definitions', () => {
  it('are added to the built-in ones, in their own topic', async () => {
    await write('billing/invoices.chart.yaml', number())
    const { catalogue, chart } = await openDefinitions(log, directory)
    expect(chart('invoices').topic).toBe('billing')
    expect(catalogue.topics.at(-1)).toEqual({ id: 'billing', title: 'Billing' })
    expect(warned).toEqual([])
  })

  it.each([
    ['a key that does not exist', 'x/a.chart.yaml', number('colour: red'), /colour/],
    ['a wrong value', 'x/a.chart.yaml', number('cache: forever'), /^cache: /],
    ['malformed YAML', 'x/a.chart.yaml', 'title: [', /^line \d+: /],
    ['nothing in it', 'x/a.chart.yaml', '', /expected object/],
    ['an unknown macro', 'x/a.chart.yaml', number().replace('SELECT 1', 'SELECT $ago'), /^sql: unknown macro "\$ago"/],
    ['a time series without an interval', 'x/a.chart.yaml', series('sql: SELECT 1'), /^interval: /],
    [
      'a window that it does not have',
      'x/a.chart.yaml',
      number().replace('SELECT 1', 'SELECT $since'),
      /^sql: no time window is defined/,
    ],
    [
      'an undeclared parameter',
      'x/a.chart.yaml',
      number().replace('SELECT 1', 'SELECT {x:UInt8}'),
      /^parameters: \{x\} is not declared/,
    ],
    [
      'a wrong second branch',
      'x/a.table.yaml',
      table("sql: [{ since: '23.8', sql: SELECT 1 }, { since: '24.1', sql: $no }]"),
      /^sql\.1: unknown macro/,
    ],
    [
      'a sort by no column',
      'x/a.table.yaml',
      table('sort: { column: b, direction: asc }\nsql: SELECT 1'),
      /^sort\.column: unknown column "b"/,
    ],
    [
      'a link to no column',
      'x/a.table.yaml',
      table('sql: SELECT 1').replace('name: a', "name: a, format: link, href: '/t/{b}'"),
      /^columns\.href: unknown column "b"/,
    ],
    [
      'a link of a chart to no column',
      'x/a.chart.yaml',
      number().replace('name: a', "name: a, href: '/t/{b}'"),
      /^columns\.href: unknown column "b"/,
    ],
    [
      'a total of no bucket',
      'x/a.chart.yaml',
      number().replace('name: a', 'name: a, per: minute'),
      /^columns\.per: "a" is not a total of a bucket/,
    ],
    [
      'a timeline with buckets',
      'x/a.chart.yaml',
      series('interval: toStartOfHour\nlastHours: 1\nsql: SELECT $bucket(now()) AS t, 1 AS a').replace(
        'line',
        'timeline',
      ),
      /^kind: a timeline needs a time column and lastHours, and takes no interval/,
    ],
    [
      'a heatmap without time',
      'x/a.chart.yaml',
      number().replace('kind: number', 'kind: heatmap'),
      /^kind: a heatmap needs a time column/,
    ],
    ['a bad name', 'x/A b.chart.yaml', number(), /^the file name must be/],
    ['nothing to measure by', 'x/a.rule.yaml', rule(''), /^sql: a rule has exactly one of/],
    [
      'two things to measure by',
      'x/a.rule.yaml',
      rule('sql: SELECT 1\nevaluator: restarted'),
      /^sql: a rule has exactly/,
    ],
    [
      'an evaluator that there is not',
      'x/a.rule.yaml',
      rule('evaluator: no'),
      /^evaluator: unknown evaluator "no"; allowed: /,
    ],
    [
      'thresholds the wrong way round',
      'x/a.rule.yaml',
      rule('sql: SELECT 1').replace('warning: 1', 'warning: 2, critical: 1'),
      /^thresholds: critical must be at least as severe as warning/,
    ],
    ['no threshold', 'x/a.rule.yaml', rule('sql: SELECT 1').replace('warning: 1', ''), /^thresholds: a rule needs/],
    ['unused samples', 'x/a.rule.yaml', rule('sql: SELECT 1\nminimumSamples: 5'), /^columns: minimumSamples/],
    ['a column that there is not', 'x/a.rule.yaml', rule('sql: SELECT 1\ncolumns: [measure]'), /^columns/],
    [
      'no figure',
      'x/a.rule.yaml',
      rule('sql: SELECT 1\ncolumns: [samples]'),
      /^columns: the column "measured" is required/,
    ],
    [
      'a wrong diagnostic',
      'x/a.rule.yaml',
      rule('sql: SELECT 1\ndiagnostic: $window'),
      /^diagnostic: no time window is defined/,
    ],
    [
      'a part that is no rule',
      'x/a.rule.yaml',
      rule('allOf: [{ rule: disk-usage, severity: warning }, { rule: no, severity: warning }]'),
      /^allOf: unknown rule "no"/,
    ],
    [
      'too short an advice',
      'x/a.rule.yaml',
      'title: T\ndoc: D.\nthresholds: {}\nrunbook: Look.\nsql: SELECT 1',
      /^runbook/,
    ],
    ['a metric with thresholds', 'x/a.metric.yaml', rule('sql: SELECT 1'), /thresholds/],
  ])('with %s are skipped, and the warning names file and key', async (_, path, text, problem) => {
    await write(path, text)
    await write('x/good.chart.yaml', number())
    const definitions = await openDefinitions(log, directory)
    expect(definitions.chart('good').name).toBe('good')
    expect(warned).toMatchObject([{ msg: 'definition skipped', file: path, problem: expect.stringMatching(problem) }])
  })

  it('may be rules and metrics, and composite rules over built-in ones', async () => {
    await write('x/mine.metric.yaml', 'title: T\ndoc: D.\nsql: SELECT 1 AS measured')
    await write('x/own.rule.yaml', rule('sql: SELECT 1 AS measured'))
    const parts = '[{ rule: own, severity: warning }, { rule: disk-usage, severity: critical }]'
    await write('x/both.rule.yaml', rule(`allOf: ${parts}`))
    await write('x/disk-usage.rule.yaml', rule('sql: SELECT 1 AS measured'))
    const definitions = await openDefinitions(log, directory)
    expect(definitions.metric('mine').topic).toBe('x')
    expect(definitions.rule('both').allOf).toHaveLength(2)
    expect(definitions.rule('disk-usage').topic).toBe('storage')
    expect(warned).toMatchObject([{ file: 'x/disk-usage.rule.yaml', problem: 'duplicate definition name' }])
  })

  it('may reference built-in and custom charts, and are skipped if a chart is unknown', async () => {
    await write('x/mine.chart.yaml', number())
    await write('x/good.table.yaml', table('charts: [mine, query-count]\nsql: SELECT 1 AS a'))
    await write('x/bad.table.yaml', table('charts: [query-coutn]\nsql: SELECT 1 AS a'))
    const definitions = await openDefinitions(log, directory)
    expect(definitions.table('good').charts).toEqual(['mine', 'query-count'])
    expect(definitions.tables.map(({ name }) => name)).not.toContain('bad')
    expect(warned).toMatchObject([{ file: 'x/bad.table.yaml', problem: 'charts: unknown chart "query-coutn"' }])
  })

  it('use $events for the self-tracking table in requires and SQL', async () => {
    const definition = number('requires: [$events]').replace('SELECT 1 AS a', 'SELECT count() AS a FROM $events')
    await write('x/views.chart.yaml', definition)
    const { chart } = await openDefinitions(log, directory, undefined, 'stats.page_views')
    expect(chart('views')).toMatchObject({
      requires: ['stats.page_views'],
      sql: 'SELECT count() AS a FROM stats.page_views',
    })
    expect((await openDefinitions(log, directory)).chart('views').requires).toEqual(['system.monitoring_events'])
    expect(warned).toEqual([])
  })

  it('cannot reuse built-in names, and may be missing at startup', async () => {
    await write('x/query-count.chart.yaml', number())
    const { chart } = await openDefinitions(log, directory)
    expect(chart('query-count').topic).toBe('queries')
    expect(warned).toMatchObject([{ file: 'x/query-count.chart.yaml', problem: 'duplicate definition name' }])
    await openDefinitions(log, join(directory, 'nowhere'))
    expect(warned.at(-1)).toMatchObject({ msg: 'reading definitions directory failed' })
  })
})
