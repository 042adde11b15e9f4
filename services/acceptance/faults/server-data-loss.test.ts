// @module-tag long
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { retryUntil } from '../../testing/fetch-json.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { type BreakableProduct, startBreakableProduct } from './breakable-product.ts'

/** Number of alerts. `FAULTS_ALERTS` sets more for a longer run. */
const count = Number(process.env.FAULTS_ALERTS ?? 3)
/** Timeout for notifications, in milliseconds. A failed target is retried after up to a minute. */
const withinMs = 150_000

vi.setConfig({ testTimeout: 480_000 })

const alerts = Array.from({ length: count }, (_, index) => `a${index}`)
const named = (event: 'fire' | 'recover', of: readonly string[] = alerts) =>
  of.map((alert) => `${event} alert-${alert}`)

const fireAll = (product: BreakableProduct) => Promise.all(alerts.map((alert) => product.send(alert, 'firing')))
const resolveAll = (product: BreakableProduct) => Promise.all(alerts.map((alert) => product.send(alert, 'resolved')))

const taken = async (product: BreakableProduct, expected: readonly string[]) => {
  await retryUntil(
    async () => expected.filter((line) => !product.receiver.taken.includes(line)),
    (missing) => missing.length === 0,
    withinMs,
  )
}

const shown = (product: BreakableProduct, expected: readonly string[]) =>
  retryUntil(
    () => product.open(),
    (open) => open.join() === expected.toSorted().join(),
    withinMs,
  )

/** Expects one notification per alert and per recovery, in order, and no open alert. */
const expectWholeStory = async (product: BreakableProduct) => {
  await taken(product, [...named('fire'), ...named('recover')])
  await shown(product, [])
  const lines = product.receiver.taken
  expect(lines.toSorted()).toEqual([...named('fire'), ...named('recover')].toSorted())
  for (const alert of alerts)
    expect(lines.indexOf(`fire alert-${alert}`)).toBeLessThan(lines.indexOf(`recover alert-${alert}`))
}

/** Makes the receiver reject all notifications, sends all alerts, and waits until they are queued. */
const holdAll = async (product: BreakableProduct) => {
  product.receiver.isDown = true
  await fireAll(product)
  await shown(
    product,
    alerts.map((alert) => `alert-${alert}`),
  )
  await retryUntil(
    async () => product.receiver.requests,
    (requests) => requests > 0,
  )
}

/** Waits until the history has at least this many entries, including those from a database outage. */
const keptInHistory = (product: BreakableProduct, lines: number) =>
  retryUntil(
    () => product.historyLines(),
    (count) => count >= lines,
    withinMs,
  )

describeWith(['nats', 'redis', 'postgres'], 'alerts while servers lose their data', () => {
  it('arrive if NATS loses its data while the receiver is down', async () => {
    await using product = await startBreakableProduct()
    await holdAll(product)
    await product.nats.stop()
    await wait(1_000)
    await product.nats.start()
    product.receiver.isDown = false
    await taken(product, named('fire'))
    await resolveAll(product)
    await expectWholeStory(product)
  })

  it('arrive if Redis loses its data while the receiver is down', async () => {
    await using product = await startBreakableProduct()
    await holdAll(product)
    await product.flushRedis()
    product.receiver.isDown = false
    await taken(product, named('fire'))
    await resolveAll(product)
    await expectWholeStory(product)
  })

  it('arrive if PostgreSQL is down when they fire, and recover if Redis is emptied afterwards', async () => {
    await using product = await startBreakableProduct()
    await product.postgres.stop()
    await fireAll(product)
    await taken(product, named('fire'))
    await product.postgres.start()
    await keptInHistory(product, alerts.length)
    await retryUntil(
      () => product.sentOnRecord(),
      (sent) => sent === alerts.length,
      withinMs,
    )
    await product.flushRedis()
    await resolveAll(product)
    await expectWholeStory(product)
    await keptInHistory(product, 2 * alerts.length)
  })

  it('recover if NATS loses its data after they fired', async () => {
    await using product = await startBreakableProduct()
    await fireAll(product)
    await taken(product, named('fire'))
    await product.nats.stop()
    await wait(1_000)
    await product.nats.start()
    await resolveAll(product)
    await expectWholeStory(product)
  })

  it('of a host arrive if PostgreSQL is down during the sweep', async () => {
    await using product = await startBreakableProduct()
    await product.sweep()
    product.host.isDown = true
    await product.postgres.stop()
    await retryUntil(
      async () => {
        await product.sweep()
        return product.receiver.taken
      },
      (lines) => lines.length > 0,
      withinMs,
    )
    await product.postgres.start()
    await keptInHistory(product, 1)
    const { taken: lines } = product.receiver
    expect(lines[0]).toBe('fire Host unreachable')
    expect(new Set(lines).size).toBe(lines.length)
    expect(await product.open()).toContain('Host unreachable')
  })
})
