import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchJson, queryClickHouse } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { startSandbox, type Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let one: Sandbox
let two: Sandbox
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  one = scope.use(await startSeededHost('one'))
  two = scope.use(await startSeededHost('two'))
  const hosts = [
    { url: one.url, name: 'one' },
    { url: two.url, name: 'two' },
    { url: 'http://127.0.0.1:1', name: 'gone' },
  ]
  // The query cache is off, so that the next request notices an unreachable host.
  product = scope.use(await startProduct({ hosts, env: { SVC_QUERY_CACHE: 'false' } }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string): Promise<Visit> => browser.open(`${product.url}${path}`)

const figure = (visit: Visit, label: string) =>
  visit.page
    .getByRole('region', { name: 'Key metrics', exact: true })
    .locator('div')
    .filter({ has: visit.page.getByText(label, { exact: true }) })

describe('the overview', () => {
  it('is where a visitor arrives', async () => {
    const { page } = await open('/')
    await expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).search).toBe('/overview?host=0')
  })

  it.each([
    [0, 'one'],
    [1, 'two'],
  ])('shows the data of host %s', async (id, name) => {
    const visit = await open(`/overview?host=${id}`)
    await visit.page.getByRole('button', { name: new RegExp(`Host: ${name}, up`) }).waitFor()
    const [engine] = await queryClickHouse(id === 0 ? one.url : two.url, 'SELECT version() AS version')
    const { body } = await fetchJson(`${product.url}/api/v1/overview?hostId=${id}`)
    expect(body).toMatchObject({ data: { hostInfo: { version: engine?.version } } })
    // The API returns this type. If it did not, the comparison of the figures below would fail.
    const { data } = body as { data: { tableCount: number; databaseCount: number } }
    const shown = (label: string) => expect.poll(() => figure(visit, label).innerText())
    await shown('Uptime').toContain(`version ${String(engine?.version)}`)
    await shown('Tables').toContain(`${data.tableCount}`)
    await shown('Tables').toContain(`in ${data.databaseCount} databases`)
    expect(data.tableCount).toBeGreaterThan(0)
  })

  it('says in its first line what fires on this host and on how many others, and leads there', async () => {
    const visit = await browser.visit()
    const { page } = visit
    const of = (hostId: number, firing: number) => ({ hostId, host: `${hostId}`, failed: false, firing, unknown: 0 })
    await page.route('**/api/v1/health/snapshot', (route) =>
      route.fulfill({
        json: {
          success: true,
          data: [
            { ...of(0, 2), worst: 'warning', worstTitle: 'Failing mutations', worstSinceMs: Date.now() - 600_000 },
            { ...of(1, 2), worst: 'critical', worstTitle: 'Disk usage' },
          ],
          metadata: { count: 2, sweptAtMs: 1, isSweeping: false, inbound: 0 },
        },
      }),
    )
    await page.goto(`${product.url}/overview?host=0`)
    const line = page.getByRole('region', { name: 'Alert status', exact: true })
    await expectVisible(
      line.getByRole('link', {
        name: 'Warning 2 conditions firing Failing mutations, started 10m ago, and 1 more',
        exact: true,
      }),
    )
    const cause = line.getByText('Failing mutations, started')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await cause.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true)
    expect(await line.getByRole('link', { name: 'On 1 other host', exact: true }).getAttribute('href')).toContain(
      'hosts=all',
    )
    await page.unrouteAll()
    await line.getByRole('link', { name: /Failing mutations/ }).click()
    await page.waitForURL(/\/health\?host=0/)
  })

  it('leads from a chart to the rows that it counts', async () => {
    const { page } = await open('/overview?host=0')
    await page.getByRole('button', { name: 'Menu for Slow queries', exact: true }).click()
    await page.getByRole('link', { name: 'Rows: Slow queries', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Slow queries', exact: true }).waitFor()
  })

  it('draws the charts that the catalogue has, without a complaint of the browser', async () => {
    const { page, consoleErrors } = await open('/overview?host=0')
    await page.getByRole('figure', { name: /^Queries, / }).waitFor()
    const charts = page.getByRole('region', { name: 'Charts', exact: true })
    await waitUntil(async () => (await charts.getByRole('heading', { level: 2 }).count()) >= 9)
    // Charts render one after another, so wait for them.
    await waitUntil(async () => (await charts.getByRole('figure').count()) >= 9)
    await waitUntil(async () => (await charts.locator('figure path').count()) > 20)
    expect(consoleErrors).toEqual([])
  })

  it.each([
    ['/overview', (page: Page) => page.getByRole('figure', { name: /^Queries, / })],
    ['/fleet', (page: Page) => page.getByText('3 of 3 hosts')],
  ])('%s needs three requests, and at most four per minute while idle', async (path, filled) => {
    const visit = await browser.visit()
    await visit.page.clock.install()
    await visit.page.goto(`${product.url}${path}?host=0`)
    await filled(visit.page).waitFor()
    await visit.networkIdle()
    // Requests of the shell do not count. They follow rendering, but on a slow machine they may be recorded by now.
    const ofPage = visit.requests.filter((request) => !/\/health\/|\/page-views$|\/setup$/.test(request))
    expect(ofPage.length).toBeLessThanOrEqual(3)
    // From here on, the test controls the clock of the page.
    await visit.page.clock.pauseAt((await visit.page.evaluate(() => Date.now())) + 30_000)
    await visit.networkIdle()
    visit.requests.length = 0
    const minutes = 5
    for (let minute = 0; minute < minutes; minute++) {
      await visit.page.clock.runFor(60_000)
      await visit.networkIdle()
    }
    expect(visit.requests.length).toBeLessThanOrEqual(4 * minutes)
    expect(visit.requests.filter((request) => request.endsWith(path)).length).toBeGreaterThanOrEqual(minutes - 1)
  })

  it('sends no request while its tab is hidden, and resumes when it is shown', async () => {
    const visit = await browser.visit()
    await visit.page.clock.install()
    await visit.page.goto(`${product.url}/overview?host=0`)
    await visit.page.getByRole('figure', { name: /^Queries, / }).waitFor()
    await visit.networkIdle()
    const show = (state: string) =>
      visit.page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
      }, state)
    await show('hidden')
    // Requests that were pending when the page was hidden do not count.
    await visit.networkIdle()
    visit.requests.length = 0
    await visit.page.clock.runFor(10 * 60_000)
    await visit.networkIdle()
    expect(visit.requests).toEqual([])
    await show('visible')
    await waitUntil(() => visit.requests.length > 0)
  })
})

describe('switching hosts', () => {
  it('searches by a part of the name and changes the URL', async () => {
    const { page } = await open('/overview?host=0&range=6h')
    await page.getByRole('button', { name: /Switch host/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Search hosts', exact: true }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('tw')
    await page.getByRole('option', { name: /two/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/host=1/)
    expect(page.url()).toContain('range=6h')
    await expectVisible(page.getByRole('button', { name: /Host: two, up/ }))
  })

  it('shows the status of each host as text', async () => {
    const { page } = await open('/overview?host=0')
    await page.getByRole('button', { name: /Switch host/ }).click()
    await expectVisible(page.getByRole('option', { name: /one.*Up/s }))
    await expectVisible(page.getByRole('option', { name: /gone.*Down/s }))
  })
})

describe('view settings', () => {
  it('keep time range and refresh in the URL across a reload', async () => {
    const { page } = await open('/overview?host=0')
    await page.getByRole('button', { name: /Time range/ }).click()
    await page.getByRole('button', { name: 'Last 7 days', exact: true }).click()
    await page.waitForURL(/range=7d/)
    await page.getByRole('combobox', { name: 'Refresh interval', exact: true }).selectOption('30 s')
    await page.waitForURL(/refresh=30s/)
    await page.reload()
    await page.getByRole('button', { name: /^Time range: Last 7 days/ }).waitFor()
    const interval = page.getByRole('combobox', { name: 'Refresh interval', exact: true })
    expect(await interval.locator('option:checked').innerText()).toBe('30 s')
    await page.getByRole('button', { name: /^Time range: Last 7 days/ }).press('Enter')
    const chosen = page.getByRole('button', { name: 'Last 7 days', exact: true })
    await waitUntil(() => chosen.evaluate((element) => element === document.activeElement))
  })

  it('accept an absolute range in the display time zone', async () => {
    const { page } = await open('/overview?host=0&zone=utc')
    await page.getByRole('button', { name: /Time range/ }).click()
    await page.getByLabel('From', { exact: true }).fill('2026-01-02T03:00')
    await page.getByLabel('To', { exact: true }).fill('2026-01-02T04:00')
    await page.getByRole('button', { name: 'Apply time range', exact: true }).click()
    await page.waitForURL(/from=1767322800&to=1767326400/)
    await page.getByRole('button', { name: /02 Jan 03:00 – 02 Jan 04:00/ }).press('Enter')
    const from = page.getByLabel('From', { exact: true })
    await waitUntil(() => from.evaluate((element) => element === document.activeElement))
    await page.keyboard.press('Escape')
    const pause = page.getByRole('button', { name: 'Pause auto-refresh', exact: true })
    expect(await pause.getAttribute('title')).toContain('Charts with an absolute time range do not refresh')
  })

  it('keep the dark theme across a reload', async () => {
    const { page } = await open('/overview?host=0')
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await background()
    await page.getByRole('radio', { name: 'Dark theme', exact: true }).check({ force: true })
    await expect.poll(background).not.toBe(light)
    const dark = await background()
    await page.reload()
    await expectVisible(page.getByRole('radio', { name: 'Dark theme', checked: true, exact: true }))
    await expect.poll(background).toBe(dark)
  })

  it('move the time cursor of all charts by keyboard', async () => {
    const { page } = await open('/overview?host=0')
    const cursor = page.getByRole('slider', { name: 'Time cursor for Queries', exact: true })
    const other = page.getByRole('slider', { name: 'Time cursor for Memory', exact: true })
    await cursor.focus()
    expect(await cursor.getAttribute('aria-valuetext')).toBe('no time selected')
    await page.keyboard.press('End')
    const last = await cursor.getAttribute('aria-valuetext')
    await page.keyboard.press('ArrowLeft')
    const before = await cursor.getAttribute('aria-valuetext')
    expect(before).toMatch(/^\d\d \w{3} \d\d:\d\d: /)
    expect(before).not.toBe(last)
    expect((await other.getAttribute('aria-valuetext'))?.slice(0, 12)).toBe(before?.slice(0, 12))
    await page.keyboard.press('Escape')
    expect(await cursor.getAttribute('aria-valuetext')).toBe('no time selected')
  })

  it('show the values of a chart as a table', async () => {
    const { page } = await open('/overview?host=0')
    await page.getByRole('button', { name: 'Memory as table', exact: true }).click()
    const values = page.getByRole('region', { name: 'Values of Memory', exact: true })
    await waitUntil(async () => (await values.getByRole('row').count()) > 10)
    // The table of a time series lists the newest values first. Compared values are in the same row.
    await page.getByRole('button', { name: 'Queries as table', exact: true }).click()
    const queries = page.getByRole('region', { name: 'Values of Queries', exact: true })
    const heads = queries.getByRole('columnheader')
    await expect.poll(() => heads.allInnerTexts()).toEqual(expect.arrayContaining(['Insert', 'Select']))
    const instants = await queries.locator('tbody td:first-child').allInnerTexts()
    expect(instants).toEqual([...new Set(instants)])
    expect(await queries.locator('[aria-sort=descending]').count()).toBe(1)
  })

  it('zoom into the dragged period of a chart', async () => {
    const { page } = await open('/overview?host=0')
    const box = await page.getByRole('slider', { name: 'Time cursor for Memory', exact: true }).boundingBox()
    if (!box) throw new Error('cannot drag over the chart: it has no bounding box')
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 30, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/from=\d+&to=\d+/)
    const { searchParams } = new URL(page.url())
    const span = Number(searchParams.get('to')) - Number(searchParams.get('from'))
    expect(span).toBeGreaterThan(5 * 3600)
    expect(span).toBeLessThan(7 * 3600)
  })
})

describe('trouble', () => {
  it('names a host that is down and leaves the rest of the page usable', async () => {
    const { page } = await open('/overview?host=2')
    await page.getByText('gone is down', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).waitFor()
    await page.getByRole('button', { name: /Switch host/ }).click()
    await page.getByRole('option', { name: /one/ }).first().click()
    await page.waitForURL(/host=0/)
    await page.getByRole('figure', { name: /^Queries, / }).waitFor()
    await waitUntil(async () => (await page.getByText('gone is down', { exact: true }).count()) === 0)
  })

  it('offers the hosts that exist when the URL names one that does not', async () => {
    const { page } = await open('/hosts')
    await page.goto(`${product.url}/overview?host=77`)
    await expectVisible(page.getByText('Host 77 not found'))
    await page.getByRole('main').getByRole('link', { name: 'one', exact: true }).click()
    await page.waitForURL(/host=0/)
  })

  it('helps on a path that is no page', async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/nowhere`)
    await expectVisible(visit.page.getByRole('heading', { name: 'Page not found', exact: true }))
    await visit.page.getByRole('link', { name: 'Go to overview', exact: true }).click()
    await visit.page.waitForURL(/\/overview/)
  })

  it('keeps the last data of an unreachable host, and shows its age', async () => {
    const { page, networkIdle } = await open('/overview?host=1')
    await page.getByRole('figure', { name: /^Queries, / }).waitFor()
    await two[Symbol.asyncDispose]()
    await waitUntil(async () => {
      await page.getByRole('button', { name: 'Refresh now', exact: true }).click()
      await networkIdle()
      return (await page.getByText(/Stale, from/).count()) > 0
    }, 1_000)
    await page.getByRole('figure', { name: /^Queries, / }).waitFor()
    expect(await page.getByRole('region', { name: 'Key metrics', exact: true }).innerText()).toContain('version')
  })

  it('shows within seconds that a host is down or up again, also on a page without data of the host', async () => {
    const visit = await browser.visit()
    const { page } = visit
    await page.clock.install()
    let isDown = false
    const failure = 'one is gone'
    const state = () => (isDown ? { status: 'down', reason: 'refused', failure } : { status: 'up', reason: null })
    // The request is held until the charts are drawn, because charts have tables with similar names.
    const chartsDrawn = Promise.withResolvers<void>()
    await page.route('**/api/v1/tables/tables-overview?*', async (route) => {
      await chartsDrawn.promise
      const error = { type: 'unavailable', message: failure, details: { host: 'one', reason: 'refused' } }
      return isDown ? route.fulfill({ status: 503, json: { success: false, error } }) : route.continue()
    })
    const { data, ...rest } = (await fetchJson(`${product.url}/api/v1/config`)).body as { data: { hosts: object[] } }
    const [one, ...others] = data.hosts
    await page.route('**/api/v1/config', (route) =>
      route.fulfill({ json: { ...rest, data: { ...data, hosts: [{ ...one, ...state() }, ...others] } } }),
    )
    await page.route('**/api/healthz', (route) => route.fulfill({ json: { hosts: [{ id: 0, ...state() }] } }))
    await page.goto(`${product.url}/tables/tables-overview?host=0&refresh=5m`)
    await expectVisible(page.getByRole('table', { name: 'Largest tables', exact: true }))
    chartsDrawn.resolve()
    await expectVisible(page.getByRole('table', { name: 'Tables', exact: true }))
    await visit.networkIdle()
    const notice = page.getByText('Check the credentials')
    // The steps take less than a minute, so no periodic status request interferes.
    for (const down of [true, false]) {
      isDown = down
      await page.getByRole('button', { name: 'Refresh now', exact: true }).click()
      for (let step = 0; step < 200 && (await notice.isVisible()) !== down; step++) {
        await visit.networkIdle()
        await page.clock.runFor(100)
      }
      expect(await notice.isVisible()).toBe(down)
      await waitUntil(async () => (await page.getByText('one is down', { exact: true }).isVisible()) === down)
      if (!down) continue
      await page
        .getByRole('navigation', { name: 'Pages', exact: true })
        .getByRole('link', { name: 'Alerts', exact: true })
        .click()
      await expectVisible(page.getByRole('heading', { level: 1, name: 'Health', exact: true }))
      await expectVisible(notice)
      await page.goBack()
    }
  })

  it('fetches data as soon as a host is back, with any refresh interval', async () => {
    const hasStatus = (status: string) =>
      waitUntil(async () => {
        const { body } = await fetchJson(`${product.url}/api/healthz`)
        return JSON.stringify(body).includes(`{"id":1,"status":"${status}"`)
      })
    await two[Symbol.asyncDispose]()
    await hasStatus('down')
    const visit = await browser.visit()
    await visit.page.clock.install()
    await visit.page.goto(`${product.url}/overview?host=1&refresh=5m`)
    await expectVisible(visit.page.getByText('two is down', { exact: true }))
    await expectVisible(visit.page.getByText(/^No history is recorded/))
    scope.use(await startSandbox({ port: Number(new URL(two.url).port) }))
    await hasStatus('up')
    await visit.networkIdle()
    await visit.page.clock.fastForward('01:01')
    await expectVisible(figure(visit, 'Uptime').getByText(/^version/))
    await waitUntil(async () => (await visit.page.getByText('two is down', { exact: true }).count()) === 0)
  })
})
