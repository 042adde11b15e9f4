import { beforeAll, expect, it } from 'vitest'
import { createReport } from '../testing/reports.ts'
import { toListedReport, type ReportStore } from './store.ts'

const older = createReport('a', { writtenAtMs: 1_000 })
const newer = createReport('b', { writtenAtMs: 2_000, hostKey: 'other' })

/** Tests that every report store must pass. `open` returns an empty store. */
export const testReportStore = (open: () => Promise<ReportStore>): void => {
  let store: ReportStore
  beforeAll(async () => {
    store = await open()
  })

  it('is empty at first', async () => {
    expect(await store.list({ limit: 10 })).toEqual([])
    expect(await store.get(older.id)).toBeUndefined()
    expect(await store.prune(Date.now())).toBe(0)
  })

  it('adds a report only once if several writers add it concurrently', async () => {
    const added = await Promise.all([1, 2, 3].map((score) => store.add({ ...older, score })))
    expect(added.filter(Boolean)).toHaveLength(1)
    expect(await store.add(older)).toBe(false)
    expect((await store.get(older.id))?.delivery).toEqual({ status: 'due', targets: [] })
  })

  it('replaces a report with the same id', async () => {
    await store.replace(older)
    expect(await store.get(older.id)).toEqual({ report: older, delivery: { status: 'none', targets: [] } })
  })

  it('lists the newest reports first, for one host or all', async () => {
    await store.add(newer)
    expect(await store.list({ limit: 10 })).toEqual([toListedReport(newer, 'due'), toListedReport(older, 'none')])
    expect(await store.list({ limit: 1 })).toEqual([toListedReport(newer, 'due')])
    expect(await store.list({ hostKey: 'box', limit: 10 })).toEqual([toListedReport(older, 'none')])
  })

  it('records the result of a delivery', async () => {
    const target = { channel: 'webhook', target: 't', name: 'ops', outcome: 'queued', reason: null }
    await store.recordDelivery(newer.id, { status: 'done', targets: [target] })
    expect((await store.get(newer.id))?.delivery).toEqual({ status: 'done', targets: [target] })
    expect((await store.list({ limit: 1 }))[0]?.delivery).toBe('done')
  })

  it('removes reports written before a time and returns their number', async () => {
    expect(await store.prune(newer.writtenAtMs)).toBe(1)
    expect(await store.list({ limit: 10 })).toEqual([toListedReport(newer, 'done')])
  })
}
