import { beforeAll, expect, it } from 'vitest'
import { aReport } from '../testing/reports.ts'
import { listed, type ReportStore } from './store.ts'

const older = aReport('a', { writtenAtMs: 1_000 })
const newer = aReport('b', { writtenAtMs: 2_000, hostKey: 'other' })

/** What holds for every store of reports; each opening is empty. */
export const reportStoreSuite = (open: () => Promise<ReportStore>): void => {
  let store: ReportStore
  beforeAll(async () => {
    store = await open()
  })

  it('has nothing at first', async () => {
    expect(await store.list({ limit: 10 })).toEqual([])
    expect(await store.get(older.id)).toBeUndefined()
    expect(await store.prune(Date.now())).toBe(0)
  })

  it('adds a report once, of many who do so at the same time', async () => {
    const added = await Promise.all([1, 2, 3].map((score) => store.add({ ...older, score })))
    expect(added.filter(Boolean)).toHaveLength(1)
    expect(await store.add(older)).toBe(false)
    expect((await store.get(older.id))?.delivery).toEqual({ status: 'due', targets: [] })
  })

  it('puts one in place of another when asked to', async () => {
    await store.replace(older)
    expect(await store.get(older.id)).toEqual({ report: older, delivery: { status: 'none', targets: [] } })
  })

  it('lists the newest first, of one host or of all', async () => {
    await store.add(newer)
    expect(await store.list({ limit: 10 })).toEqual([listed(newer, 'due'), listed(older, 'none')])
    expect(await store.list({ limit: 1 })).toEqual([listed(newer, 'due')])
    expect(await store.list({ hostKey: 'box', limit: 10 })).toEqual([listed(older, 'none')])
  })

  it('keeps what became of a delivery', async () => {
    const target = { channel: 'webhook', target: 't', name: 'ops', outcome: 'queued', reason: null }
    await store.settle(newer.id, { status: 'done', targets: [target] })
    expect((await store.get(newer.id))?.delivery).toEqual({ status: 'done', targets: [target] })
    expect((await store.list({ limit: 1 }))[0]?.delivery).toBe('done')
  })

  it('removes those written before a time, and says how many', async () => {
    expect(await store.prune(newer.writtenAtMs)).toBe(1)
    expect(await store.list({ limit: 10 })).toEqual([listed(newer, 'done')])
  })
}
