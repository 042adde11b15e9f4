import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { query } from '#proto/query.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { openStore } from '#shared/store/open.ts'
import { createClock } from '#shared/time/clock.ts'
import { createServiceCall } from '../background-tasks.ts'
import { createMemoryInsightStore } from '../stores/store.ts'

import { createDiskHours } from '../testing/rows.ts'
import { createQuietQueryHandlers, openClients } from '../testing/test-services.ts'
import { createForecastHandlers } from './handlers.ts'
import { scanDueHosts } from './schedule.ts'

const dayMs = 86_400_000
const { signal } = new AbortController()

/** Opens a `report` process and a host whose disk grows by 0.5 GiB an hour. */
const openProduct = async (opened: AsyncDisposableStack) => {
  let day = 0
  let jumpGibibytes = 0
  const clock = createClock(() => Date.UTC(2026, 5, 1) + day * dayMs)
  const insightRows: ServiceHandlers<typeof query>['insightRows'] = async ({ set }) => ({
    rows: set === 'disk-hours' ? createDiskHours((hoursAgo) => 400 + jumpGibibytes + day * 12 - hoursAgo * 0.5) : [],
    sql: 'SELECT 1',
    unavailable: null,
  })
  const served = { query: { ...createQuietQueryHandlers('one'), insightRows } }
  const clients = await openClients(opened, served, clock)
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  const insightStore = { store: createMemoryInsightStore(), reason: null }
  const deps = { ...clients, env: {}, clock, store, insightStore, log: pino({ level: 'silent' }) }
  return {
    /** Runs the scheduled scans until this day. */
    async runUntil(last: number, jump = 0) {
      jumpGibibytes = jump
      for (; day <= last; day++) await scanDueHosts(deps, signal)
      day = last
    },
    /** Returns the record in the current forecast of the disk. */
    async readRecord() {
      const { forecasts } = await createForecastHandlers(deps).forecast(
        { hostKey: 'one' },
        createServiceCall(deps, signal),
      )
      return forecasts.find(({ what }) => what === 'disk')?.record
    },
  }
}

describe('the forecasts of a host', () => {
  it('are stored once a day and scored with the history when their day has come', async () => {
    await using opened = new AsyncDisposableStack()
    const product = await openProduct(opened)
    expect(await product.readRecord()).toMatchObject({ scored: 0, waiting: 0 })
    await product.runUntil(0)
    expect(await product.readRecord()).toMatchObject({ scored: 0, waiting: 2, mape: null })
    await product.runUntil(0)
    expect(await product.readRecord()).toMatchObject({ waiting: 2 })
    await product.runUntil(8)
    const record = await product.readRecord()
    expect(record).toMatchObject({ scored: 10, coverage: 1, isPoor: false })
    expect(record?.mape).toBeCloseTo(0, 6)
  })

  it('say that they were wrong if the disk behaves differently', async () => {
    await using opened = new AsyncDisposableStack()
    const product = await openProduct(opened)
    await product.runUntil(3)
    await product.runUntil(10, 300)
    const record = await product.readRecord()
    expect(record?.isPoor).toBe(true)
    expect(record?.summary).toContain('unreliable')
  })
})
