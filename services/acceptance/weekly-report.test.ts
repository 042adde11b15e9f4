import { afterAll, beforeAll, expect, it } from 'vitest'
import { WeeklyReportResponse } from '#proto/http/cron.ts'
import { BuildReportResponse, ReportResponse, ReportsResponse } from '#proto/http/reports.ts'
import { findLastWeek } from '../report/reports/report-data.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { startStrictServer, type StrictServer } from '../alert-dispatcher/channels/testing/strict-server.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import {
  generateQueryHistory,
  type LoggedStatement,
  replaceLogs,
  computeUsedGibibytes,
} from '../testing/two-week-history.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { createGatewayVariables, type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const startLimitMs = 180_000
const secret = 'the secret of the scheduler'
const hourMs = 3_600_000
/** The summary that the model writes. Its number and error are those of the report. */
const summary = 'The disk data has 1,000 GiB, and UNKNOWN_TABLE (60) fails most.'
const weekMs = 168 * hourMs

/** The host with two weeks of history that both topologies share. */
let sandbox: Sandbox
const week = findLastWeek(Date.now(), 'UTC')
const statements = generateQueryHistory(week.fromMs - weekMs)
beforeAll(async () => {
  sandbox = await startSandbox()
  for (const statement of [
    'CREATE DATABASE shop',
    'CREATE TABLE shop.orders (n UInt64) ENGINE = MergeTree ORDER BY n',
    'INSERT INTO shop.orders SELECT number FROM numbers(1000)',
    'SYSTEM FLUSH LOGS',
  ]) {
    await queryClickHouse(sandbox.url, statement)
  }
  await replaceLogs(sandbox.url, week.fromMs - weekMs, statements)
}, startLimitMs)
afterAll(() => sandbox?.[Symbol.asyncDispose]())

describeOnTopologies('the weekly report', (topology) => {
  let product: Product
  let gateway: ScriptedGateway
  let chat: StrictServer

  beforeAll(async () => {
    const hosts = [
      { url: sandbox.url, name: 'one' },
      { url: 'http://127.0.0.1:9', name: 'silent' },
    ]
    chat = await startStrictServer({ problem: () => undefined, answer: { status: 200, body: 'ok' } })
    gateway = await startScriptedGateway({ script: [{ say: [{ text: summary }] }] })
    const env = {
      ...createGatewayVariables(gateway),
      CRON_SECRET: secret,
      SVC_WEEKLY_REPORT_HOSTS: '0,1',
      SVC_HEALTH_SWEEP_ENABLED: 'false',
      HEALTH_ALERT_WEBHOOK_URL: `${chat.url}/hook`,
      HEALTH_ALERT_WEBHOOK_MIN_SEVERITY: 'critical',
      HEALTH_ALERT_MIN_SEVERITY: 'critical',
    }
    product = await startProduct({ topology, hosts, env, dispatcher: true, toolServer: true, agent: true })
  }, startLimitMs)
  afterAll(async () => {
    await product?.stop()
    await gateway?.[Symbol.asyncDispose]()
    await chat?.[Symbol.asyncDispose]()
  })

  const round = async () => {
    const headers = { authorization: `Bearer ${secret}` }
    const { body } = await fetchJson(`${product.url}/api/cron/weekly-report`, { headers })
    return WeeklyReportResponse.parse(body).data
  }
  const reports = async () => ReportsResponse.parse((await fetchJson(`${product.url}/api/v1/reports`)).body).data
  const open = async () => {
    const [listed] = await reports()
    return ReportResponse.parse((await fetchJson(`${product.url}/api/v1/reports/${listed?.id}`)).body).data
  }

  it('is written once by two concurrent runs, and not by later ones', async () => {
    const both = await Promise.all([round(), round()])
    expect(both.reduce((sum, { written }) => sum + written, 0)).toBe(1)
    expect(await round()).toMatchObject({ written: 0 })
    expect(await reports()).toMatchObject([
      { host: 'one', hostId: 0, week: week.name, zone: 'UTC', fromMs: week.fromMs },
    ])
  })

  it('is sent to a webhook for critical alerts once', async () => {
    await retryUntil(
      async () => chat.taken.length,
      (count) => count > 0,
    )
    expect(chat.taken.map(({ path, text }) => [path, JSON.parse(text).text])).toEqual([
      ['/hook', expect.stringContaining(`Weekly report of one, ${week.name}`)],
    ])
  })

  it('has the totals of the queries of the week', async () => {
    const report = await open()
    const now = statements.filter(({ atMs }) => atMs >= week.fromMs)
    const before = statements.filter(({ atMs }) => atMs < week.fromMs)
    expect(report.statements).toEqual({ now: figuresOf(now), before: figuresOf(before) })
    expect(report.course.map(({ calls }) => calls)).toEqual(
      report.course.map(({ atMs }) => now.filter((each) => each.atMs >= atMs && each.atMs < atMs + weekMs / 28).length),
    )
    const times = (code: number, of: readonly LoggedStatement[]) => of.filter((each) => each.code === code).length
    expect(report.errorCodes).toEqual([
      { code: 60, name: 'UNKNOWN_TABLE', count: times(60, now), countBefore: times(60, before) },
      { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', count: times(241, now), countBefore: 0 },
    ])
    const ofPattern = (pattern: number, of: readonly LoggedStatement[]) => of.filter((each) => each.pattern === pattern)
    const shareOf = (pattern: number, of: readonly LoggedStatement[]) =>
      figuresOf(ofPattern(pattern, of)).totalMs / figuresOf(of).totalMs
    const patternWith = (pattern: number) => ({
      hash: String(pattern),
      text: `SELECT ? FROM shop.t${pattern}`,
      calls: ofPattern(pattern, now).length,
      callsBefore: ofPattern(pattern, before).length,
      p95Ms: quantile(0.95, ofPattern(pattern, now)),
      readBytes: 1_000 * pattern,
      share: expect.closeTo(shareOf(pattern, now), 9),
    })
    expect(report.regressions).toMatchObject([
      {
        ...patternWith(3),
        p95MsBefore: quantile(0.95, ofPattern(3, before)),
        shareBefore: expect.closeTo(shareOf(3, before), 9),
      },
    ])
    expect(report.improvements).toMatchObject([patternWith(4)])
    expect(report.newPatterns).toMatchObject([{ ...patternWith(5), p95MsBefore: null }])
  })

  it('has the state of disks, tables and the server', async () => {
    const report = await open()
    const gibibyte = 1_024 ** 3
    const usedAtEnd = computeUsedGibibytes(335)
    expect(report.disks).toMatchObject([
      { disk: 'data', usedBytes: usedAtEnd * gibibyte, grewBytes: (usedAtEnd - computeUsedGibibytes(168)) * gibibyte },
    ])
    expect(report.disks[0]?.daysToFull?.soonest).toBeCloseTo((1_000 - usedAtEnd) / 12, 6)
    expect(report.tables).toMatchObject([
      { table: 'shop.orders', rows: 1_000, writtenBytes: 168 * 3_000, writtenBytesBefore: 168 * 1_000 },
    ])
    const hour = (number: number) => week.fromMs - weekMs + number * hourMs + 60_000
    expect(report.worst).toEqual(
      expect.arrayContaining([
        { what: 'parts in one partition', value: 321, unit: 'count', atMs: hour(200) },
        { what: 'resident memory of the server', value: 9e9, unit: 'bytes', atMs: hour(250) },
      ]),
    )
    expect(report.changes).toMatchObject({ restarts: 1, settings: null, versionBefore: null })
    expect(report.coverage).toMatchObject({ hours: 168, watchedHours: 0 })
  })

  it('is rendered as a page or as Markdown', async () => {
    const [listed] = await reports()
    const as = (format: string) => fetchJson(`${product.url}/api/v1/reports/${listed?.id}?format=${format}`)
    const [page, text] = [await as('html'), await as('markdown')]
    expect(page.text).toMatch(/^<!doctype html>[\s\S]*<svg [\s\S]*<\/html>\n$/)
    expect(page.text).not.toContain('<script')
    expect(text.text).toMatch(/^# one: \d{4}-W\d\d\n/)
    expect(page.text).toContain(summary)
  })

  it('begins with the summary of a model that receives no literal values', async () => {
    expect((await open()).summary).toBe(summary)
    const read = gateway.requests.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n')
    expect(read).toContain('SELECT ? FROM shop.t3')
    expect(gateway.violations).toEqual([])
  })

  it('of another period is built on demand, without notifications', async () => {
    const [from, to] = [week.fromMs - weekMs, week.fromMs - weekMs + 24 * hourMs]
    const built = await fetchJson(`${product.url}/api/v1/reports`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ from: from / 1_000, to: to / 1_000, timezone: 'Europe/Berlin' }),
    })
    const { data } = BuildReportResponse.parse(built.body)
    const day = statements.filter(({ atMs }) => atMs < to)
    expect(data).toMatchObject({ week: null, zone: 'Europe/Berlin', statements: { now: figuresOf(day), before: null } })
    expect(data.notes).toContain('patterns: not enough history, the query log has no entries of the previous period')
    expect((await reports()).map(({ week: name, delivery }) => [name, delivery])).toContainEqual([null, 'none'])
  })
})

const figuresOf = (statements: readonly LoggedStatement[]) => ({
  calls: statements.length,
  errors: statements.filter(({ code }) => code !== 0).length,
  totalMs: statements.reduce((sum, { durationMs }) => sum + durationMs, 0),
  p50Ms: quantile(0.5, statements),
  p95Ms: quantile(0.95, statements),
  peakMemoryBytes: Math.max(...statements.map(({ memoryBytes }) => memoryBytes)),
})

/** Returns the quantile of the durations, with linear interpolation. */
const quantile = (level: number, statements: readonly LoggedStatement[]): number => {
  const sorted = statements.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other)
  const at = level * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0]
  return below + (above - below) * (at - Math.floor(at))
}
