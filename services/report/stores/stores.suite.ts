import { beforeAll, expect, it } from 'vitest'
import { aCall, anInsight } from '../testing/insights.ts'
import type { InsightStore } from './store.ts'

const newer = anInsight('b', { foundAtMs: 1_780_000_000_124 })
const older = anInsight('a')

/** Tests that every insight store must pass. `open` returns a store without insights of the host `box`. */
export const insightStoreSuite = (open: () => Promise<InsightStore>): void => {
  let store: InsightStore
  beforeAll(async () => {
    store = await open()
  })
  const list = (more: { hostKey?: string; sinceMs?: number; limit?: number; ids?: string[] } = {}) =>
    store.list({ hostKey: 'box', sinceMs: 0, limit: 100, ...more }, aCall())

  it('is empty at first', async () => {
    expect(await list()).toEqual([])
    expect(await store.prune(Date.now(), aCall())).toBe(0)
  })

  it('lists stored insights, newest first', async () => {
    await store.put('box', [older, newer], 1, aCall())
    expect(await list()).toEqual([newer, older])
  })

  it('filters by time, limit and id', async () => {
    expect(await list({ sinceMs: newer.foundAtMs })).toEqual([newer])
    expect(await list({ limit: 1 })).toEqual([newer])
    expect(await list({ ids: [older.id, 'e'.repeat(32)] })).toEqual([older])
    expect(await list({ ids: ['e'.repeat(32)] })).toEqual([])
  })

  it('keeps the last version of each id', async () => {
    const dismissed = { ...older, severity: 'critical' as const, dismissed: { by: "O'Ada", atMs: 7 } }
    await store.put('box', [dismissed], 2, aCall())
    await store.put('box', [newer], 3, aCall())
    expect(await list()).toEqual([newer, dismissed])
  })

  it('stores many insights in one call', async () => {
    const many = Array.from({ length: 700 }, (_, index) =>
      anInsight('c', { id: index.toString(16).padStart(32, '0'), foundAtMs: 1_000 + index }),
    )
    await store.put('box', many, 4, aCall())
    expect(await list({ limit: 500 })).toHaveLength(500)
  })

  it('removes insights found before a time and returns their number', async () => {
    expect(await store.prune(newer.foundAtMs, aCall())).toBe(701)
    expect(await list()).toEqual([newer])
  })
}
