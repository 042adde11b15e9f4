import { clockOf } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { openStore } from '#shared/store/open.ts'
import { memoryStore } from '../stores/store.ts'
import { openWatched, quietAlerts, quietQuery } from '../testing/fleet.ts'
import { openReports } from './store.ts'
import { type Writing, writeWeekly } from './weekly.ts'

/** A Wednesday. */
const nowMs = Date.UTC(2026, 10, 18, 6)
const weekMs = 7 * 86_400_000
const log = pino({ level: 'silent' })

interface Given {
  env?: Record<string, string>
  query?: Partial<ReturnType<typeof quietQuery>>
  alerts?: Partial<typeof quietAlerts>
  /** What a language model says of a report; none is configured without it. */
  says?: string
}

/** All that a replica writes reports with, of two hosts that are opted in; what is told is heard. */
const openReplica = async (opened: AsyncDisposableStack, { env = {}, query = {}, alerts = {}, says }: Given = {}) => {
  const told: string[] = []
  const notify: (typeof quietAlerts)['notify'] = async (announcement, call) => {
    told.push(announcement.title)
    return (alerts.notify ?? quietAlerts.notify)(announcement, call)
  }
  const served = {
    query: { ...quietQuery('one', 'two', 'three'), ...query },
    alerts: { ...quietAlerts, ...alerts, notify },
    agent: { summarise: async () => (says === undefined ? noModel() : { summary: says }) },
  }
  const settings = { SVC_WEEKLY_REPORT_HOSTS: '0,2', ...env }
  const { reports } = opened.use(await openReports(settings, log))
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  let now = nowMs
  const clock = clockOf(() => now)
  const writing: Writing = {
    ...(await openWatched(opened, served, clock)),
    insights: memoryStore(),
    clock,
    env: settings,
    store,
    reports,
    log,
  }
  const run = () => writeWeekly(writing, new AbortController().signal)
  return { run, reports, told, later: (ms: number) => (now += ms) }
}

const noModel = (): never => {
  throw new ServiceError('unavailable', 'no key is set', { details: { reason: 'provider-not-configured' } })
}

describe('the weekly report', () => {
  it('is of the last whole week, of each host that is opted in, kept and told', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, reports, told } = await openReplica(opened)
    expect(await run()).toEqual({ written: 2, delivered: 2 })
    const listed = await reports.list({ limit: 10 })
    expect(listed.map(({ host, week, delivery }) => [host, week, delivery]).toSorted()).toEqual([
      ['one', '2026-W46', 'done'],
      ['three', '2026-W46', 'done'],
    ])
    expect(told.toSorted()).toEqual(['Weekly report of one, 2026-W46', 'Weekly report of three, 2026-W46'])
  })

  it('is written once when its job runs again, and twice at once', async () => {
    await using opened = new AsyncDisposableStack()
    const { run, reports, told, later } = await openReplica(opened)
    const both = await Promise.all([run(), run()])
    expect(both.reduce((sum, { written }) => sum + written, 0)).toBe(2)
    expect(await run()).toEqual({ written: 0, delivered: 0 })
    expect([(await reports.list({ limit: 10 })).length, told.length]).toEqual([2, 2])
    later(weekMs)
    expect(await run()).toEqual({ written: 2, delivered: 2 })
    expect(await reports.list({ limit: 10 })).toHaveLength(4)
  })

  it('is one report also when two processes that know nothing of each other write it into one database at once', async () => {
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

  it('tells what changed since the one before', async () => {
    await using opened = new AsyncDisposableStack()
    let version = '26.3.1.7'
    const status = quietQuery().hostStatus
    const query = {
      hostStatus: async (...given: Parameters<typeof status>) => ({ ...(await status(...given)), version }),
    }
    const { run, reports, later } = await openReplica(opened, { query })
    await run()
    later(weekMs)
    version = '26.7.2.1'
    await run()
    const [listed] = await reports.list({ hostKey: 'one', limit: 1 })
    const kept = await reports.get(listed?.id ?? '')
    expect(kept?.report).toMatchObject({
      scoreBefore: 100,
      changes: { versionBefore: '26.3.1.7', version: '26.7.2.1' },
    })
  })

  it('that cannot be told is kept, and told by the next round', async () => {
    await using opened = new AsyncDisposableStack()
    let isDown = true
    const notify: (typeof quietAlerts)['notify'] = async (...given) => {
      if (isDown) throw new ServiceError('unavailable', 'nobody there')
      return quietAlerts.notify(...given)
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
  ])('is summed up by %j with %j as %j', async (says, env, summary) => {
    await using opened = new AsyncDisposableStack()
    const { run, reports } = await openReplica(opened, { says, env })
    expect(await run()).toEqual({ written: 2, delivered: 2 })
    const [listed] = await reports.list({ hostKey: 'one', limit: 1 })
    expect((await reports.get(listed?.id ?? ''))?.report.summary).toBe(summary)
  })

  it('of a host that does not answer is missing, and of the others there', async () => {
    await using opened = new AsyncDisposableStack()
    const query: Given['query'] = {
      reportRows: async ({ hostKey }) => {
        if (hostKey === 'one') throw new ServiceError('unavailable', 'host one does not answer')
        return { rows: [], unavailable: null }
      },
    }
    const { run, reports } = await openReplica(opened, { query })
    expect(await run()).toEqual({ written: 1, delivered: 1 })
    expect((await reports.list({ limit: 10 })).map(({ host }) => host)).toEqual(['three'])
  })

  it('says in words what a host without its log cannot tell', async () => {
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

  it.each([[''], ['7,8']])('of nobody, or of positions without a host (%j), is none', async (positions) => {
    await using opened = new AsyncDisposableStack()
    const { run, told } = await openReplica(opened, { env: { SVC_WEEKLY_REPORT_HOSTS: positions } })
    expect([await run(), told]).toEqual([{ written: 0, delivered: 0 }, []])
  })
})
