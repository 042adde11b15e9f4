// @module-tag long
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { queryClickHouse } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let host: Sandbox
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  host = scope.use(await startSeededHost('one'))
  await queryClickHouse(
    host.url,
    `CREATE TABLE IF NOT EXISTS shop.treemap_target (day Date, a UInt64) ENGINE = MergeTree PARTITION BY day ORDER BY a`,
  )
  await queryClickHouse(
    host.url,
    `INSERT INTO shop.treemap_target SELECT toDate('2026-01-01') + number % 3, rand64() FROM numbers(300000)`,
  )
  product = scope.use(await startProduct({ hosts: [{ url: host.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string): Promise<Visit> => browser.open(`${product.url}${path}`)
const card = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })
const cursor = (page: Page, title: string) =>
  page.getByRole('slider', { name: `Time cursor for ${title}`, exact: true })
const chooseRange = async (page: Page, label: string): Promise<void> => {
  await page.getByRole('button', { name: /^Time range: / }).click()
  await page.getByRole('button', { name: label, exact: true }).click()
}
const parametersOf = (page: Page) => new URL(page.url()).searchParams

/** Holds the responses of a route until the returned function is called. */
const hold = async (page: Page, url: string): Promise<() => void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await promise
    await route.continue()
  })
  return resolve
}

describe('the range of a chart', () => {
  it('is written on it, with unit and bucket, and can be five minutes', async () => {
    const { page } = await open('/overview?host=0')
    await expectVisible(card(page, 'Queries').getByText('queries per minute · last 24 h · 10 min buckets'))
    await expectVisible(card(page, 'Slow queries').getByText(/^slow queries per 10 min · last 24 h/))
    await chooseRange(page, 'Last 5 minutes')
    await page.waitForURL(/range=5m/)
    await expectVisible(card(page, 'Queries').getByText('queries per minute · last 5 min · 5 s buckets'))
  })

  it('never stands over the data of another range: charts load until their data match it', async () => {
    const { page } = await open('/overview?host=0&range=24h')
    const queries = card(page, 'Queries')
    await expectVisible(queries.getByText(/last 24 h/))
    const release = await hold(page, '**/api/v1/charts/batch')
    await chooseRange(page, 'Last hour')
    await page.waitForURL(/range=1h/)
    await expectVisible(queries.getByText('Loading…', { exact: true }))
    expect(await queries.getAttribute('aria-busy')).toBe('true')
    expect(await queries.getByText(/last (24|1) h/).count()).toBe(0)
    // The figure still shows the previous day, so that a zoom must select a part of it.
    const box = await cursor(page, 'Queries').boundingBox()
    if (!box) throw new Error('cannot drag over the chart: it has no bounding box')
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 30, { steps: 5 })
    await page.mouse.up()
    await page.waitForURL(/from=\d+&to=\d+/)
    const [from, to] = [Number(parametersOf(page).get('from')), Number(parametersOf(page).get('to'))]
    expect(to - from).toBeGreaterThan(5 * 3600)
    expect(to - from).toBeLessThan(7 * 3600)
    expect(Date.now() / 1000 - to).toBeGreaterThan(11 * 3600)
    release()
    await waitUntil(async () => (await queries.getAttribute('aria-busy')) === 'false')
    await expectVisible(queries.getByText(/ – .* buckets$/))
  })

  it('also holds for tables', async () => {
    const { page } = await open('/tables/history-queries?host=0&range=24h')
    const table = page.getByRole('region', { name: 'Query history', exact: true })
    await expectVisible(table)
    expect(await table.getAttribute('data-loading')).toBeNull()
    const release = await hold(page, '**/api/v1/tables/history-queries*')
    await chooseRange(page, 'Last hour')
    await page.waitForURL(/range=1h/)
    await waitUntil(async () => (await table.getAttribute('data-loading')) === 'true')
    release()
    await waitUntil(async () => (await table.getAttribute('data-loading')) === null)
  })
})

describe('a series', () => {
  it('has the same colour on all pages', async () => {
    const colorOf = async (path: string, series: string) => {
      const { page } = await open(path)
      const swatch = page
        .getByRole('button', { name: new RegExp(`^${series} `) })
        .locator('span')
        .first()
      await swatch.waitFor()
      return swatch.evaluate((element) => getComputedStyle(element).borderColor)
    }
    const color = await colorOf('/charts/query-count?host=0&range=7d', 'Insert')
    expect(await colorOf('/charts/query-insights-operations?host=0&range=24h', 'Insert')).toBe(color)
    expect(await colorOf('/charts/query-count?host=0&range=7d', 'Select')).not.toBe(color)
  })
})

describe('an alert', () => {
  it('is marked where its episode started, not where it was notified', async () => {
    const visit = await browser.visit()
    const { page } = visit
    const nowMs = Date.now()
    const entry = {
      id: '1',
      hostId: 0,
      host: 'one',
      ruleId: 'disk-usage',
      episode: 'e',
      severity: 'critical',
      title: 'Disk usage',
      value: 95,
      threshold: 90,
      sinceMs: nowMs - 40 * 60_000,
      atMs: nowMs - 25 * 60_000,
      reason: '',
    }
    await page.route('**/api/v1/health/history*', (route) =>
      route.fulfill({
        json: {
          success: true,
          data: [
            { ...entry, id: '2', kind: 'escalate', atMs: nowMs - 10 * 60_000 },
            { ...entry, kind: 'fire' },
          ],
          metadata: { count: 2 },
        },
      }),
    )
    await page.goto(`${product.url}/charts/query-count?host=0&range=1h`)
    const slider = cursor(page, 'Queries')
    await slider.focus()
    await page.keyboard.press('End')
    const marked: string[] = []
    await expect
      .poll(async () => {
        await page.keyboard.press('Home')
        marked.length = 0
        for (let step = 0; step < 61; step++) {
          const text = (await slider.getAttribute('aria-valuetext')) ?? ''
          if (text.includes('Alert: Disk usage')) marked.push(text)
          await page.keyboard.press('ArrowRight')
        }
        return marked.length
      })
      .toBe(1)
    const at = new Date(entry.sinceMs).toISOString().slice(11, 16)
    expect(marked[0]).toContain(` ${at}:`)
  })
})

describe('a comparison', () => {
  it('with yesterday is drawn, with the difference in legend and tooltip, and is kept in the URL', async () => {
    const visit = await open('/overview?host=0&range=6h')
    const { page } = visit
    await page.getByRole('button', { name: /^Time range: / }).click()
    await page.getByRole('combobox', { name: 'Compare with', exact: true }).selectOption('Same time yesterday')
    await page.waitForURL(/compare=day/)
    await page.keyboard.press('Escape')
    await expectVisible(page.getByRole('button', { name: /^Time range: .*vs yesterday/ }))
    const queries = card(page, 'Queries')
    await waitUntil(async () => (await queries.locator('path[stroke-dasharray="2 3"]').count()) > 0)
    await expectVisible(queries.getByRole('button', { name: /avg .*[+−±]/ }).first())
    await cursor(page, 'Queries').hover()
    await expectVisible(queries.getByText(/^vs /))
    await expectVisible(queries.getByText(/^was /).first())
    expect(visit.consoleErrors).toEqual([])
    await page.reload()
    await waitUntil(async () => (await queries.locator('path[stroke-dasharray="2 3"]').count()) > 0)
  })

  it('can be with any period', async () => {
    const { page } = await open('/overview?host=0&range=1h')
    await page.getByRole('button', { name: /^Time range: / }).click()
    await page.getByRole('combobox', { name: 'Compare with', exact: true }).selectOption('Another period…')
    await page.waitForURL(/compare=\d{10}/)
    const start = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 16)
    await page.getByLabel('Start of the compared period', { exact: false }).fill(start)
    await page.getByRole('button', { name: 'Zoom out', exact: true }).focus()
    await waitUntil(() => parametersOf(page).get('compare') === String(Date.parse(`${start}Z`) / 1000))
    await waitUntil(async () => (await page.locator('path[stroke-dasharray="2 3"]').count()) > 0)
  })

  it('of fingerprints lists new ones and leads to them', async () => {
    await queryClickHouse(host.url, 'SELECT count() AS newly_compared FROM shop.treemap_target WHERE a > 5')
    await queryClickHouse(host.url, 'SYSTEM FLUSH LOGS query_log')
    const visit = await open('/fingerprints?host=0&range=1h&search=newly_compared')
    const { page } = visit
    await page.getByRole('button', { name: 'Compare with previous period', exact: true }).click()
    await page.waitForURL(/compare=1/)
    const changes = card(page, 'Changes')
    await changes.getByRole('button', { name: /^New 1$/ }).click()
    await page.waitForURL(/change=new/)
    const table = changes.getByRole('table', { name: 'Fingerprints by change of p95', exact: true })
    await expectVisible(table.getByRole('columnheader', { name: 'Ratio', exact: true }))
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await table.getByRole('link', { name: /newly_compared/ }).click()
    await page.waitForURL(/\/fingerprints\/\d+\?.*compare=1/)
    await expectVisible(page.getByRole('heading', { level: 1, name: /^Fingerprint \d+/ }))
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('a treemap', () => {
  it('leads to the parts of a partition, by mouse and by keyboard', async () => {
    const visit = await open('/parts?host=0&database=shop&table=treemap_target')
    const { page } = visit
    const cell = page.getByRole('link', { name: /^shop\.treemap_target, partition 2026-01-0\d: / }).first()
    await expectVisible(cell)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    // The rectangle must be an SVG element, or it is not drawn.
    const width = await cell
      .locator('rect')
      .evaluate((rect) => (rect instanceof SVGRectElement ? rect.getBBox().width : 0))
    expect(width).toBeGreaterThan(50)
    await cell.focus()
    await page.keyboard.press('ArrowRight')
    const focused = await page.evaluate(() => document.activeElement?.querySelector('title')?.textContent ?? '')
    expect(focused).toMatch(/^shop\.treemap_target, partition /)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tables\/part-info\?/)
    const parameters = parametersOf(page)
    expect([parameters.get('p.database'), parameters.get('p.table')]).toEqual(['shop', 'treemap_target'])
    expect(parameters.get('filter')).toMatch(/^partition\.eq\.2026-01-0\d$/)
    await expectVisible(page.getByRole('table').getByText('treemap_target', { exact: true }).first())
    await page.goBack()
    await cell.click()
    await page.waitForURL(/\/tables\/part-info\?/)
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('sharing', () => {
  it('copies a link with fixed or relative times, and confirms it', async () => {
    const visit = await open('/overview?host=0&compare=1')
    const { page } = visit
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = async (choice: string) => {
      await page.getByRole('button', { name: 'Share', exact: true }).click()
      await page.getByRole('button', { name: new RegExp(`^${choice}`) }).click()
      await expectVisible(page.getByRole('status').getByText(/^Link copied: /))
      return new URL(await page.evaluate(() => navigator.clipboard.readText())).searchParams
    }
    const fixed = await copied('Copy link with fixed times')
    expect(Number(fixed.get('to')) - Number(fixed.get('from'))).toBe(86_400)
    expect(Number(fixed.get('from')) - Number(fixed.get('compare'))).toBe(86_400)
    expect(fixed.get('range')).toBeNull()
    // The text of the toast changes, which shows that the second copy has happened.
    await page.getByRole('button', { name: 'Close message', exact: true }).click()
    const relative = await copied('Copy link with relative times')
    expect([relative.get('range'), relative.get('from'), relative.get('compare')]).toEqual(['24h', null, '1'])
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})

describe('a dashboard with a variable of several values', () => {
  it('uses all selected values in statements, and repeats a chart for each', async () => {
    const place = { x: 0, y: 0, w: 6, h: 6 }
    const sql = `SELECT name FROM (SELECT arrayJoin(['ada', 'o\\'neil', 'eve']) AS name) WHERE {who_all} OR name IN {who}`
    const content = {
      schemaVersion: 1,
      title: 'Users',
      variables: [{ kind: 'list', name: 'who', options: ['ada', "o'neil", 'eve'], multi: true, includeAll: true }],
      panels: [
        { ...place, id: 'a', kind: 'sql', title: 'Names', sql, view: 'table' },
        { ...place, id: 'b', kind: 'chart', x: 6, chart: 'query-insights-latency', parameters: { user: '{who}' } },
      ],
    }
    const response = await fetch(`${product.url}/api/v1/dashboards`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content }),
    })
    const { data } = (await response.json()) as { data: { id: string } }
    const visit = await open(`/dashboards/${data.id}?host=0`)
    const { page } = visit
    const panels = page.locator('[data-panel]')
    const names = () => panels.first().getByRole('cell').allInnerTexts()
    await expect.poll(names).toEqual(['ada', "o'neil", 'eve'])
    expect(await panels.count()).toBe(2)
    await page.getByRole('button', { name: 'who: All', exact: true }).click()
    for (const name of ['ada', "o'neil"]) await page.getByRole('checkbox', { name, exact: true }).click()
    await page.keyboard.press('Escape')
    await expect.poll(names).toEqual(['ada', "o'neil"])
    await expectVisible(page.getByRole('heading', { name: /· ada$/ }))
    await expectVisible(page.getByRole('heading', { name: /· o'neil$/ }))
    expect(new URL(page.url()).searchParams.getAll('var-who')).toEqual(['ada', "o'neil"])
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByRole('button', { name: 'Share dashboard', exact: true }).click()
    const link = await page.getByRole('dialog').getByRole('textbox').inputValue()
    expect(new URL(link).searchParams.getAll('var-who')).toEqual(['ada', "o'neil"])
  })
})
