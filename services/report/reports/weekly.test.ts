import { createClock } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import { createMemoryInsightStore } from '../stores/store.ts'
import { openClients, quietAlertHandlers, createQuietQueryHandlers } from '../testing/test-services.ts'
import { openReportStore } from './store.ts'
import { type WeeklyReportDeps, writeWeeklyReports } from './weekly.ts'

/** A Wednesday. */
const nowMs = Date.UTC(2026, 10, 18, 6)
const weekMs = 7 * 86_400_000
const log = pino({ level: 'silent' })

interface ReplicaOptions {
  env?: Record<string, string>
  query?: Partial<ReturnType<typeof createQuietQueryHandlers>>
  alerts?: Partial<typeof quietAlertHandlers>
  /** The summary that the language model returns. If it is not set, no model is configured. */
  summary?: string
}

/** Opens a `report` process with weekly reports for two of three hosts. `notified` collects notification titles. */
const openReplica = async (
  opened: AsyncDisposableStack,
  { env = {}, query = {}, alerts = {}, summary }: ReplicaOptions = {},
) => {
  const notified: string[] = []
  const notify: (typeof quietAlertHandlers)['notify'] = async (announcement, call) => {
    notified.push(announcement.title)
    return (alerts.notify ?? quietAlertHandlers.notify)(announcement, call)
  }
  const served = {
    query: { ...createQuietQueryHandlers('one', 'two', 'three'), ...query },
    alerts: { ...quietAlertHandlers, ...alerts, notify },
    agent: { summarize: async () => (summary === undefined ? noModel() : { summary }) },
  }
  const settings = { SVC_WEEKLY_REPORT_HOSTS: '0,2', ...env }
  const { reports } = opened.use(await openReportStore(settings, log))
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  let now = nowMs
  const clock = createClock(() => now)
  const deps: WeeklyReportDeps = {
    ...(await openClients(opened, served, clock)),
    insights: createMemoryInsightStore(),
    clock,
    env: settings,
    store,
    reports,
    log,
  }
  const run = () => writeWeeklyReports(deps, new AbortController().signal)
  return { run, reports, notified, later: (ms: number) => (now += ms) }
}

const noModel = (): never => {
  throw new ServiceError('unavailable', 'no key is set', { details: { reason: 'provider-not-configured' } })
}

describe('the weekly report', () => {
  it('is written for the last full week of each opted-in host, stored and sent', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, reports, notified } = await openReplica(opened)
    expect(await run()).toEqual({ written: 2, delivered: 2 })
    const listed = await reports.list({ limit: 10 })
    expect(listed.map(({ host, week, delivery }) => [host, week, delivery]).toSorted()).toEqual([
      ['one', '2026-W46', 'done'],
      ['three', '2026-W46', 'done'],
    ])
    expect(notified.toSorted()).toEqual(['Weekly report of one, 2026-W46', 'Weekly report of three, 2026-W46'])
  })

  it('is written only once if the job runs again or concurrently', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, reports, notified, later } = await openReplica(opened)
    const both = await Promise.all([run(), run()])
    expect(both.reduce((sum, { written }) => sum + written, 0)).toBe(2)
    expect(await run()).toEqual({ written: 0, delivered: 0 })
    expect([(await reports.list({ limit: 10 })).length, notified.length]).toEqual([2, 2])
    later(weekMs)
    expect(await run()).toEqual({ written: 2, delivered: 2 })
    expect(await reports.list({ limit: 10 })).toHaveLength(4)
  })

  it('is written once if two independent processes share a database', async () => {
    await using opened = new AsyncDisposableStack()
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-weekly-'))
    opened.defer(() => rm(directory, { recursive: true }))
    const env = { SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}` }
    const one = await openReplica(opened, { env })
    const other = await openReplica(opened, { env })
    const [mine, theirs] = await Promise.all([one.run(), other.run()])
    expect(mine.written + theirs.written).toBe(2)
    expect(await one.reports.list({ limit: 10 })).toHaveLength(2)
  })

  it('contains the changes since the previous report', async () => {
    await using opened = new AsyncDisposableStack()
    let version = '26.3.1.7'
    const status = createQuietQueryHandlers().hostStatus
    const query = {
      hostStatus: async (...args: Parameters<typeof status>) => ({ ...(await status(...args)), version }),
    }
    const { run, reports, later } = await openReplica(opened, { query })
    await run()
    later(weekMs)
    version = '26.7.2.1'
    await run()
    const [listed] = await reports.list({ hostKey: 'one', limit: 1 })
    const stored = await reports.get(listed?.id ?? '')
    expect(stored?.report).toMatchObject({
      scoreBefore: 100,
      changes: { versionBefore: '26.3.1.7', version: '26.7.2.1' },
    })
  })

  it('is stored if sending fails, and sent by the next run', async () => {
    await using opened = new AsyncDisposableStack()
    let isDown = true
    const notify: (typeof quietAlertHandlers)['notify'] = async (...args) => {
      if (isDown) throw new ServiceError('unavailable', 'no responders')
      return quietAlertHandlers.notify(...args)
    }
    const { run, reports } = await openReplica(opened, { alerts: { notify } })
    expect(await run()).toEqual({ written: 2, delivered: 0 })
    expect((await reports.list({ limit: 10 })).map(({ delivery }) => delivery)).toEqual(['failed', 'failed'])
    isDown = false
    expect(await run()).toEqual({ written: 0, delivered: 2 })
  })

  it.each([
    ['Nothing\nhappened: 100 of 100.', {}, 'Nothing happened: 100 of 100.'],
    ['It scored 99 of 100.', {}, null],
    ['Nothing happened.', { SVC_REPORT_SUMMARY: 'no' }, null],
    [undefined, {}, null],
  ])('with the model response %j and %j has the summary %j', async (modelSummary, env, summary) => {
    await using opened = new AsyncDisposableStack()
    const { run, reports } = await openReplica(opened, { summary: modelSummary, env })
    expect(await run()).toEqual({ written: 2, delivered: 2 })
    const [listed] = await reports.list({ hostKey: 'one', limit: 1 })
    expect((await reports.get(listed?.id ?? ''))?.report.summary).toBe(summary)
  })

  it('is skipped for an unreachable host and written for the others', async () => {
    await using opened = new AsyncDisposableStack()
    const query: ReplicaOptions['query'] = {
      reportRows: async ({ hostKey }) => {
        if (hostKey === 'one') throw new ServiceError('unavailable', 'host one is unreachable')
        return { rows: [], unavailable: null }
      },
    }
    const { run, reports } = await openReplica(opened, { query })
    expect(await run()).toEqual({ written: 1, delivered: 1 })
    expect((await reports.list({ limit: 10 })).map(({ host }) => host)).toEqual(['three'])
  })

  it('contains a note for a host without a query log', async () => {
    await using opened = new AsyncDisposableStack()
    const message = 'host one has no table system.query_log'
    const unavailable = { reason: 'missing-table' as const, message, missingTables: ['system.query_log'] }
    const { run, reports } = await openReplica(opened, {
      query: { reportRows: async () => ({ rows: [], unavailable }) },
    })
    await run()
    const [listed] = await reports.list({ limit: 1 })
    const { report } = (await reports.get(listed?.id ?? '')) ?? {}
    expect(report?.statements).toBeNull()
    expect(report?.notes).toContain(`statement totals: ${message}`)
  })

  it.each([[''], ['7,8']])('is not written without hosts or for unknown positions (%j)', async (positions) => {
    await using opened = new AsyncDisposableStack()
    const { run, notified } = await openReplica(opened, { env: { SVC_WEEKLY_REPORT_HOSTS: positions } })
    expect([await run(), notified]).toEqual([{ written: 0, delivered: 0 }, []])
  })
})
