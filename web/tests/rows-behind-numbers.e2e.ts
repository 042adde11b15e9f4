import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchJson } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { fetchText } from '../../services/sandbox/curl.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 })

const secret = 'secret-of-the-scheduler'
const id = 'failed after seven seconds'
/** Runs for seven seconds and fails at its end. */
const failing = 'SELECT sum(sleepEachRow(1)) + throwIf(max(number) = 6) FROM numbers(7) SETTINGS max_block_size = 1'

let sandbox: Sandbox
let product: Product
let browser: TestBrowser
/** The length of a bucket of the last hour. */
const bucketSeconds = 30
/** The bucket in which the query failed, as the charts show it. */
let bucket: RegExp
const scope = new AsyncDisposableStack()

const flush = () => fetchText(sandbox.url, 'SYSTEM FLUSH LOGS')
const runFailing = (query: Record<string, string> = {}) =>
  fetchText(sandbox.url, failing, query).then(
    () => {
      throw new Error('the statement did not fail')
    },
    () => undefined,
  )

beforeAll(async () => {
  sandbox = scope.use(await startSeededHost('one'))
  const env = { CRON_SECRET: secret, SVC_QUERY_CACHE: 'false' }
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env }))
  browser = scope.use(await openBrowser())
  await runFailing({ query_id: id })
  await flush()
  const ended = `SELECT formatDateTime(toStartOfInterval(max(event_time), toIntervalSecond(${bucketSeconds})), '%T', 'UTC') FROM system.query_log WHERE query_id = '${id}'`
  bucket = new RegExp(`\\b${await fetchText(sandbox.url, ended)}: `)
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}): Promise<Visit> => browser.open(`${product.url}${path}`, options)

/** Returns the row of the failed query. Checks that its outcome and its statement are visible. */
const findRow = async (page: Page, table: string): Promise<Locator> => {
  const row = page
    .getByRole('table', { name: table, exact: true })
    .getByRole('row')
    .filter({ hasText: 'FROM numbers(7)' })
  await expectVisible(row.first())
  return row.first()
}
const expectQueryPage = async (page: Page): Promise<void> => {
  await expectVisible(page.getByRole('heading', { level: 1, name: `Query ${id}`, exact: true }))
  await expectVisible(page.getByRole('region', { name: 'Failure', exact: true }))
}

/** Clicks the bucket of a chart in which the query failed. The pointer moves from the newest bucket to earlier ones. */
const clickBucket = async (page: Page, chart: string): Promise<void> => {
  const cursor = page.getByRole('slider', { name: `Time cursor for ${chart}`, exact: true })
  await cursor.scrollIntoViewIfNeeded()
  const { x, y, width } = (await cursor.boundingBox()) ?? { x: 0, y: 0, width: 0 }
  for (let left = width - 1; left > 0; left -= 1) {
    // The pointer is above the bars, so that no series is selected.
    await page.mouse.move(x + left, y + 2)
    if (bucket.test((await cursor.getAttribute('aria-valuetext')) ?? '')) {
      await page.mouse.click(x + left, y + 2)
      return
    }
  }
  throw new Error(`no bucket of "${chart}" matches ${String(bucket)}`)
}

describe('a query that failed is found with two clicks on the overview', () => {
  it.each([
    ['Failed queries', 'Failed queries'],
    ['Slow queries', 'Slow queries'],
  ])('by the tile %s', async (tile, table) => {
    const { page } = await open('/overview?host=0&range=1h')
    await page
      .getByRole('region', { name: 'Key metrics', exact: true })
      .getByRole('link', { name: tile, exact: true })
      .click()
    const row = await findRow(page, table)
    expect(new URL(page.url()).searchParams.get('range')).toBe('1h')
    await row.getByRole('link').first().click()
    await expectQueryPage(page)
  })

  it.each([
    ['Query duration percentiles', 'Slow queries'],
    ['Slow queries', 'Slow queries'],
    ['Failed queries', 'Failed queries'],
  ])('by a point of the chart %s', async (chart, table) => {
    const { page } = await open('/overview?host=0&range=1h')
    await clickBucket(page, chart)
    await page.waitForURL(/\/tables\/.*from=\d+&to=\d+/)
    const { searchParams } = new URL(page.url())
    const [from, to] = ['from', 'to'].map((name) => Number(searchParams.get(name)))
    expect(Number(to) - Number(from)).toBe(bucketSeconds)
    expect([searchParams.get('host'), searchParams.has('range')]).toEqual(['0', false])
    const row = await findRow(page, table)
    await row.getByRole('link').first().click()
    await expectQueryPage(page)
  })

  it('by the keyboard on a chart', async () => {
    const { page } = await open('/overview?host=0&range=1h')
    const cursor = page.getByRole('slider', { name: 'Time cursor for Slow queries', exact: true })
    await cursor.focus()
    await waitUntil(async () => {
      await page.keyboard.press('ArrowLeft')
      return bucket.test((await cursor.getAttribute('aria-valuetext')) ?? '')
    })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await findRow(page, 'Slow queries')
  })

  it('by the alert that it causes', async () => {
    for (let attempt = 0; attempt < 30; attempt++)
      await fetchText(sandbox.url, "SELECT throwIf(1, 'broken deployment')").catch(() => undefined)
    await flush()
    const sweep = await fetchJson(`${product.url}/api/cron/health-sweep`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(sweep.status).toBe(200)
    const { page } = await open('/overview?host=0&range=1h')
    await page.getByRole('region', { name: 'Alert status', exact: true }).getByRole('link').first().click()
    const card = page.getByRole('article', { name: /^Failing queries on one/ })
    await card.getByRole('link', { name: 'Affected queries', exact: true }).click()
    await page.waitForURL(/\/tables\/failed-queries\?.*from=\d+&to=\d+/)
    await findRow(page, 'Failed queries')
  })
})

describe('the rows behind other charts', () => {
  it.each([
    [
      'a timeline',
      '/charts/merge-timeline?host=0&range=7d',
      /\/tables\/recent-merges\?.*from=\d+&to=\d+/,
      'Recent merges',
    ],
    [
      'a heat map',
      '/charts/query-count-heatmap?host=0&range=7d',
      /\/tables\/history-queries\?.*from=\d+/,
      'Query history',
    ],
    ['a gauge', '/charts/health-disk-percent?host=0', /\/tables\/disks\?/, 'Disks'],
  ])('of %s are opened by keyboard', async (_, path, target, table) => {
    const { page } = await open(path)
    const links = page.locator('figure a[href]:not([tabindex="-1"])')
    await expectVisible(links.first())
    expect(await links.count()).toBe(1)
    await links.focus()
    for (const key of ['End', 'ArrowLeft', 'ArrowRight']) await page.keyboard.press(key)
    await page.keyboard.press('Enter')
    await page.waitForURL(target)
    const rows = page.getByRole('table', { name: table, exact: true }).getByRole('row')
    await waitUntil(async () => (await rows.count()) > 1)
  })
})

describe('a running query', () => {
  it('is part of the slow queries, the percentiles and the overview, with its status', async () => {
    const runaway = fetchText(sandbox.url, 'SELECT sum(sleepEachRow(1)) FROM numbers(90) SETTINGS max_block_size = 1', {
      query_id: 'still running',
    }).catch((error: unknown) => String(error))
    const longest = async () => {
      const path = '/api/v1/charts/query-duration-percentiles?hostId=0&lastHours=1&interval=toStartOfMinute'
      const { body } = await fetchJson(`${product.url}${path}`)
      const { data } = body as { data: { p99_ms: number | null }[] }
      return Math.max(...data.slice(-2).map((row) => row.p99_ms ?? 0))
    }
    await waitUntil(async () => (await longest()) > 7_000, 500)
    const { page } = await open('/tables/slow-queries?host=0&range=1h')
    const row = page
      .getByRole('table', { name: 'Slow queries', exact: true })
      .getByRole('row')
      .filter({ hasText: '(90)' })
    await expectVisible(row.getByText('Running', { exact: true }))
    await page.goto(`${product.url}/overview?host=0`)
    await page
      .getByRole('region', { name: 'Key metrics', exact: true })
      .getByRole('link', { name: 'Running queries', exact: true })
      .click()
    await expectVisible(
      page.getByRole('table', { name: 'Running queries', exact: true }).getByText('numbers(90)').first(),
    )
    await fetchText(sandbox.url, "KILL QUERY WHERE query_id = 'still running' SYNC")
    expect(await runaway).toContain('QUERY_WAS_CANCELLED')
    await flush()
    await page.goto(`${product.url}/tables/slow-queries?host=0&range=1h`)
    await expectVisible(row.getByText('Cancelled', { exact: true }))
  })
})

describe("Watchhouse's own statements", () => {
  const toggle = (page: Page) => page.getByRole('checkbox', { name: "Show Watchhouse's own statements", exact: true })

  it('appear on all pages with one switch', async () => {
    await flush()
    const visit = await open('/tables/recent-queries?host=0&search=log_comment')
    const { page } = visit
    await expectVisible(page.getByText('No rows match'))
    await toggle(page).check()
    await page.waitForURL(/[?&]own=1/)
    await expectVisible(page.getByRole('table', { name: 'Recent queries', exact: true }).getByRole('link').first())
    const requested = page.waitForRequest(/\/api\/v1\/overview\?.*own=1/)
    const charted = page.waitForRequest((request) => (request.postData() ?? '').includes('"own":"1"'))
    await page
      .getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'Overview', exact: true })
      .click()
    await Promise.all([requested, charted])
  })

  it('appear by default if the user prefers that', async () => {
    const { page } = await open('/tables/history-queries?host=0')
    await page.evaluate(() => localStorage.setItem('preferences', JSON.stringify({ own: 'shown' })))
    await page.reload()
    await expect.poll(() => toggle(page).isChecked()).toBe(true)
    await toggle(page).uncheck()
    await page.waitForURL(/[?&]own=0/)
    expect(await toggle(page).isChecked()).toBe(false)
  })
})

describe('a logged query', () => {
  it('with SETTINGS has a plan, and its threads page says what the host logs', async () => {
    const logged = 'with settings'
    const sql =
      "SELECT count() FROM shop.orders WHERE customer_id = 7 SETTINGS max_threads = 1, join_algorithm = 'hash', max_memory_usage = 9000000000"
    await fetchText(sandbox.url, sql, { query_id: logged })
    await flush()
    const { page } = await open(`/queries/${encodeURIComponent(logged)}?host=0&view=plan`)
    const plan = page.getByRole('region', { name: 'Current plan', exact: true })
    await expectVisible(plan.getByText('ReadFromMergeTree').first())
    await expectVisible(plan.getByText(/Planned with the SETTINGS of the statement: .*max_threads = 1/))
    await expectVisible(plan.getByText(/Not applied.*: max_memory_usage\./))
    await page.getByRole('link', { name: /^Threads and processors/ }).click()
    const [setting] = (
      await fetchText(sandbox.url, "SELECT value FROM system.settings WHERE name = 'log_query_threads'")
    ).split('\n')
    await expectVisible(
      page
        .getByRole('region', { name: 'Threads', exact: true })
        .getByText(`log_query_threads = ${setting} (the default of this host)`),
    )
  })
})
