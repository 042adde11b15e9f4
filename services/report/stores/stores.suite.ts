import { beforeAll, expect, it } from 'vitest'
import { createUserCall, createInsight } from '../testing/insights.ts'
import type { InsightStore } from './store.ts'

const newer = createInsight('b', { foundAtMs: 1_780_000_000_124 })
const older = createInsight('a')

/** Tests that every insight store must pass. `open` returns a store without insights of the host `box`. */
export const testInsightStore = (open: () => Promise<InsightStore>): void => {
  let store: InsightStore
  beforeAll(async () => {
    store = await open()
  })
  const list = (more: { hostKey?: string; sinceMs?: number; limit?: number; ids?: string[] } = {}) =>
    store.list({ hostKey: 'box', sinceMs: 0, limit: 100, ...more }, createUserCall())

  it('is empty at first', async () => {
    expect(await list()).toEqual([])
    expect(await store.prune(Date.now(), createUserCall())).toBe(0)
  })

  it('lists stored insights, newest first', async () => {
    await store.put('box', [older, newer], 1, createUserCall())
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
    await store.put('box', [dismissed], 2, createUserCall())
    await store.put('box', [newer], 3, createUserCall())
    expect(await list()).toEqual([newer, dismissed])
  })

  it('stores many insights in one call', async () => {
    const many = Array.from({ length: 700 }, (_, index) =>
      createInsight('c', { id: index.toString(16).padStart(32, '0'), foundAtMs: 1_000 + index }),
    )
    await store.put('box', many, 4, createUserCall())
    expect(await list({ limit: 500 })).toHaveLength(500)
  })

  it('removes insights found before a time and returns their number', async () => {
    expect(await store.prune(newer.foundAtMs, createUserCall())).toBe(701)
    expect(await list()).toEqual([newer])
  })
}
