import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { ChangesResponse } from '#proto/http/changes.ts'
import { fetchJson, queryClickHouse } from '../../testing/fetch-json.ts'
import { startProduct } from '../../testing/product.ts'
import { findChromium } from '../../testing/servers/chromium.ts'
import { openPictureContext, waitForPage } from '../screenshots/wait-for-page.ts'
import { type ChangeableServer, startChangeableServer } from './changeable-server.ts'
import { waitForFirstSnapshot } from './changes.ts'
import { startQueryLoad } from './query-load.ts'
import { startRealServer } from './real-server.ts'
import type { Report } from './report.ts'

const version = '25.8'
const folder = join(import.meta.dirname, '../../../web/docs/pictures')
const scheduler = 'secret-of-the-scheduler'
const queriesPerSecond = 20
const loadMs = 30_000
const recordedWithinMs = 180_000
const unreachableWithinMs = 120_000
const pollMs = 2_000
const viewport = { width: 1280, height: 800 }

/** Returns the configuration of the profile of the applications with this memory limit in bytes. */
const profileOf = (bytes: number): string =>
  `<clickhouse><profiles><applications><max_memory_usage>${bytes}</max_memory_usage></applications></profiles></clickhouse>`

/** Breaks a loaded server, kills it, and finds cause and time from the alert. Writes the pictures of the documentation. */
export const checkWalk = async (report: Report): Promise<void> => {
  await using scope = new AsyncDisposableStack()
  const server = scope.use(await startChangeableServer(version))
  const history = scope.use(await startRealServer(version, 'history'))
  await prepare(server)
  const hosts = [{ url: server.url, name: 'orders-1' }]
  const env = { SVC_HISTORY_URL: history.url, CRON_SECRET: scheduler }
  const product = scope.use(await startProduct({ hosts, env }))
  await waitForFirstSnapshot(history.url)
  using _load = startQueryLoad([server.url], queriesPerSecond)
  await wait(loadMs)
  await report('a bad setting and a schema change are recorded', () => breakServer(server, product.url))
  await server.kill()
  await report('the alert fires after the host was killed', () => waitForAlert(product.url))
  await report('cause and time are found within three clicks', () => walk(product.url))
}

const prepare = async (server: ChangeableServer): Promise<void> => {
  await queryClickHouse(server.url, 'CREATE DATABASE shop')
  await queryClickHouse(server.url, 'CREATE TABLE shop.orders (id UInt64, price Float32, day Date) ORDER BY id')
  await server.write('users.d/applications.xml', profileOf(4_000_000_000))
  await queryClickHouse(server.url, 'SYSTEM RELOAD CONFIG')
}

const breakServer = async (server: ChangeableServer, url: string): Promise<void> => {
  await server.write('users.d/applications.xml', profileOf(1_000_000))
  await queryClickHouse(server.url, 'SYSTEM RELOAD CONFIG')
  await queryClickHouse(server.url, 'ALTER TABLE shop.orders MODIFY TTL day + INTERVAL 1 DAY')
  await waitFor(recordedWithinMs, async () => {
    const { data } = ChangesResponse.parse((await fetchJson(`${url}/api/v1/changes`)).body)
    const titles = new Set(data.map(({ title }) => title))
    return titles.has('settings profile applications changed') && titles.has('table shop.orders changed')
  })
}

const waitForAlert = (url: string): Promise<void> =>
  waitFor(unreachableWithinMs, async () => {
    await fetchJson(`${url}/api/cron/health-sweep`, { headers: { authorization: `Bearer ${scheduler}` } })
    const { data } = ChangesResponse.parse((await fetchJson(`${url}/api/v1/changes?kind=alert`)).body)
    return data.some(({ title }) => /unreachable.* fired$/i.test(title))
  })

const waitFor = async (withinMs: number, isMet: () => Promise<boolean>): Promise<void> => {
  const limit = performance.now() + withinMs
  while (!(await isMet())) {
    if (performance.now() > limit) throw new Error(`condition not met within ${withinMs} ms`)
    await wait(pollMs)
  }
}

/** Clicks from the alert to the change, and takes a picture after each click. */
const walk = async (url: string): Promise<string> => {
  await using browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] })
  const context = await openPictureContext(browser, viewport)
  const page = await context.newPage()
  await mkdir(folder, { recursive: true })
  await page.goto(`${url}/health?host=0&hosts=all`)
  await takePicture(page, 'outage-1-alerts')
  await page
    .locator('a', { hasText: /^\s*Incident\s*$/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Changed in the hour before' }).waitFor()
  await takePicture(page, 'outage-2-alert')
  await page.getByRole('link', { name: 'Changes around this alert' }).click()
  await waitForPage(page)
  const change = page.locator('li', { hasText: 'settings profile applications changed' })
  await change.getByText('Show diff').click()
  await takePicture(page, 'outage-3-change')
  const text = (await change.innerText()).replaceAll(/\s+/g, ' ')
  assert.match(text, /^\d{2}:\d{2} Settings .*max_memory_usage = 4000000000.*max_memory_usage = 1000000/)
  return text.slice(0, 60)
}

const takePicture = async (page: Page, name: string): Promise<void> => {
  await waitForPage(page)
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}
