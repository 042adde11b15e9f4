// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

/** Timeout for a hundred pages on a busy machine, in milliseconds. */
const manyPagesMs = 600_000

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string): Promise<Visit> => browser.open(`${product.url}${path}`)

/** Returns the texts of a column in the rendered rows. Reads all rows at once, because rows change while scrolling. */
const column = async ({ page }: Visit, name: string): Promise<string[]> => {
  const rows = page.getByRole('region', { name: /, scrollable$/ }).getByRole('row')
  await rows.nth(1).waitFor()
  const cells = await rows.evaluateAll((elements) =>
    elements.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent.trim())),
  )
  const [headers = [], ...rest] = cells
  const index = headers.indexOf(name)
  if (index < 0) throw new Error(`unknown column "${name}"; found: ${headers.join(', ')}`)
  return rest.map((row) => row[index] ?? '')
}

describe('storage pages', () => {
  it('forecast when disks are full, and list growing tables and reclaimable space', async () => {
    const visit = await open('/storage?host=0')
    const disk = visit.page.getByRole('region', { name: 'default', exact: true })
    await expectVisible(disk.getByText(/^(Full .*\d{4}|Not filling up|No forecast yet)$/))
    await expectVisible(disk.getByRole('figure', { name: /^default: .* of .* used/ }))
    await expectVisible(
      visit.page
        .getByRole('region', { name: 'Growth by table', exact: true })
        .getByRole('link', { name: 'events', exact: true }),
    )
    const freeable = visit.page.getByRole('region', { name: 'Reclaimable space', exact: true })
    await expectVisible(freeable.getByRole('heading', { name: 'Detached parts', exact: true }))
    const main = visit.page.getByRole('main')
    await main.getByRole('link', { name: 'Alert rules', exact: true }).click()
    await visit.page.waitForURL(/\/alerts\/rules\?.*search=disk/)
    expect(visit.consoleErrors).toEqual([])
  })

  it('show the state of backups as text, with size and duration by day', async () => {
    const visit = await open('/backups?host=0')
    await expectVisible(visit.page.getByRole('figure', { name: /^Backup size/ }))
    await waitUntil(async () => (await column(visit, 'State')).includes('Created'))
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('a table page', () => {
  it('shows four charts in a row, so that its rows are on the first screen', async () => {
    const { page } = await open('/tables/running-queries?host=0')
    const cards = page.getByRole('region', { name: 'Related charts', exact: true }).locator('section')
    await waitUntil(async () => (await cards.count()) === 4)
    const tops = await cards.evaluateAll((each) => each.map((card) => card.getBoundingClientRect().top))
    expect(new Set(tops).size).toBe(1)
  })

  it('is reached from the menu and says what it shows and what it cost', async () => {
    const visit = await open('/overview?host=0&range=6h')
    const menu = visit.page.getByRole('navigation', { name: 'Pages', exact: true })
    await menu.getByRole('link', { name: 'Queries', exact: true }).click()
    await visit.page
      .getByRole('main')
      .getByRole('link', { name: /^Query history/ })
      .click()
    await visit.page.getByRole('heading', { level: 1, name: 'Query history', exact: true }).waitFor()
    expect(visit.page.url()).toContain('range=6h')
    await visit.page.getByText(/^Read .* rows$/).waitFor()
    expect((await column(visit, 'Query')).length).toBeGreaterThan(10)
    expect(visit.consoleErrors).toEqual([])
  })

  it('shows the rows of the time range that it names, first as far back as the page usually looks', async () => {
    const visit = await open('/tables/slow-queries?host=0')
    const range = visit.page.getByRole('button', { name: /^Time range: / })
    await expectVisible(range.getByText('Last 7 days'))
    await expectVisible(visit.page.getByRole('status').getByText('Last 7 days'))
    const now = Math.floor(Date.now() / 1_000)
    const rows = visit.page.waitForRequest(/\/api\/v1\/tables\/slow-queries\?/)
    await visit.page.goto(`${product.url}/tables/slow-queries?host=0&from=${now - 604_800}&to=${now - 86_400}`)
    expect((await rows).url()).toContain(`from=${now - 604_800}&to=${now - 86_400}`)
    await visit.networkIdle()
    await expectVisible(visit.page.getByRole('status').getByText(/^· \d+ \w+ .* – \d+ \w+ /))
    await visit.page.goto(`${product.url}/tables/slow-queries?host=0&range=1h`)
    await visit.networkIdle()
    await expectVisible(visit.page.getByRole('status').getByText('Last hour'))
    expect(visit.consoleErrors).toEqual([])
  })

  it('of the present moment goes on refreshing under a fixed time range', async () => {
    const { page } = await open('/tables/running-queries?host=0&from=1700000000&to=1700003600')
    const request = await page.waitForRequest(/\/api\/v1\/tables\/running-queries\?/)
    expect(request.url()).not.toMatch(/[?&](from|to|lastHours|lastMinutes)=/)
    await page.getByRole('button', { name: 'Pause auto-refresh', exact: true }).click()
    await page.waitForURL(/paused=1/)
  })

  it('sorts by a column, in the URL, over a reload', async () => {
    const visit = await open('/tables/history-queries?host=0')
    const header = visit.page.getByRole('columnheader', { name: 'Rows read', exact: true })
    const sorting = visit.page.waitForResponse(/\/api\/v1\/tables\/history-queries\?.*sort=read_rows\.desc/)
    await header.getByRole('button').click()
    await visit.page.waitForURL(/sort=read_rows\.desc/)
    await sorting
    await waitUntil(async () => (await header.getAttribute('aria-sort')) === 'descending')
    await visit.networkIdle()
    const largest = (await column(visit, 'Rows read'))[0]
    await header.getByRole('button').click()
    await visit.page.waitForURL(/sort=read_rows\.asc/)
    await waitUntil(async () => (await column(visit, 'Rows read'))[0] !== largest)
    await visit.page.reload()
    await header.waitFor()
    expect(await header.getAttribute('aria-sort')).toBe('ascending')
  })

  it('filters by a column, in the URL, and lets the filter be taken away', async () => {
    const visit = await open('/tables/tables-overview?host=0')
    const all = await column(visit, 'Database')
    await visit.page.getByRole('button', { name: 'Add filter', exact: true }).click()
    await visit.page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('Database')
    await visit.page.getByRole('textbox', { name: 'Value', exact: true }).fill('shop')
    await visit.page.getByRole('button', { name: 'Add', exact: true }).click()
    await visit.page.waitForURL(/filter=database\.eq\.shop/)
    await waitUntil(async () => (await column(visit, 'Database')).every((name) => name === 'shop'))
    expect((await column(visit, 'Database')).length).toBeLessThan(all.length)
    await visit.page.reload()
    await visit.page.getByRole('button', { name: 'Remove filter on Database', exact: true }).click()
    await waitUntil(async () => (await column(visit, 'Database')).length === all.length)
  })

  it('searches in all text, and says when nothing matches', async () => {
    const visit = await open('/tables/settings?host=0')
    await visit.page.getByRole('searchbox').fill('max_execution_time')
    await visit.page.waitForURL(/search=max_execution_time/)
    await waitUntil(async () => (await column(visit, 'Setting')).includes('max_execution_time'))
    await visit.page.getByRole('searchbox').fill('no setting is called this')
    await expectVisible(visit.page.getByText('No rows match'))
    await visit.page.getByRole('button', { name: 'Clear search and filters', exact: true }).click()
    await waitUntil(async () => (await column(visit, 'Setting')).length > 10)
  })

  it('draws only the rows that are seen of many, and reaches the last', async () => {
    const visit = await open('/tables/settings?host=0&limit=2000')
    const table = visit.page.getByRole('table', { name: 'Settings', exact: true })
    const total = Number(await table.getAttribute('aria-rowcount')) - 1
    expect(total).toBeGreaterThan(500)
    expect(await table.getByRole('row').count()).toBeLessThan(120)
    await visit.page.getByRole('region', { name: 'Settings, scrollable', exact: true }).focus()
    await visit.page.keyboard.press('End')
    await waitUntil(async () => (await table.locator(`[aria-rowindex="${total + 1}"]`).count()) === 1)
  })

  it('offers the columns that are not shown by themselves', async () => {
    const visit = await open('/tables/history-queries?host=0')
    await visit.page.getByRole('button', { name: 'More columns', exact: true }).click()
    const choice = visit.page.getByLabel('More columns').getByRole('checkbox').first()
    const name = (await choice.locator('..').innerText()).trim()
    await choice.check()
    await visit.page.waitForURL(/columns=/)
    await expectVisible(visit.page.getByRole('columnheader', { name, exact: true }))
  })

  it('includes the statements of the product itself with one switch, which is in the URL', async () => {
    const visit = await open('/tables/history-queries?host=0')
    const choice = visit.page.getByRole('checkbox', {
      name: "Show Watchhouse's own statements",
      exact: true,
    })
    await choice.check()
    await visit.page.waitForURL(/[?&]own=1/)
    await choice.uncheck()
    await visit.page.waitForURL((url) => !url.searchParams.has('own'))
    expect(await choice.isChecked()).toBe(false)
  })

  it('scrolls sideways inside itself on a phone, never the page', async () => {
    const visit = await browser.visit({ viewport: { width: 390, height: 844 } })
    await visit.page.goto(`${product.url}/tables/history-queries?host=0`)
    await visit.page.getByRole('table', { name: 'Query history', exact: true }).waitFor()
    const width = await visit.page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBe(390)
    await visit.page.getByRole('button', { name: 'Menu', exact: true }).click()
    await visit.page
      .getByRole('dialog', { name: 'Menu', exact: true })
      .getByRole('link', { name: /^Running/ })
      .click()
    await visit.page.getByRole('heading', { level: 1, name: 'Running queries', exact: true }).waitFor()
    await visit.page.getByRole('dialog', { name: 'Menu', exact: true }).waitFor({ state: 'detached' })
  })

  it('leads from a query to what the logs have of it', async () => {
    const visit = await open('/tables/history-queries?host=0&range=6h')
    const [id = ''] = await column(visit, 'Query id')
    await visit.page.getByRole('link', { name: id, exact: true }).click()
    await expectVisible(visit.page.getByRole('heading', { level: 1, name: `Query ${id}`, exact: true }))
    const { pathname, searchParams: chosen } = new URL(visit.page.url())
    expect([pathname, chosen.get('range'), chosen.get('host')]).toEqual([`/queries/${id}`, '6h', '0'])
    await expectVisible(visit.page.getByRole('region', { name: 'Timeline', exact: true }))
  })

  it('suggests similar names when there is no such page', async () => {
    const visit = await open('/tables/history-querys?host=0')
    await visit.page.getByText('Unknown table page "history-querys"').waitFor()
    await visit.page.getByRole('main').getByRole('link', { name: 'Query history', exact: true }).click()
    await expectVisible(visit.page.getByRole('heading', { level: 1, name: 'Query history', exact: true }))
  })

  it(
    'renders every table page of the catalogue without a complaint',
    { tags: ['long'], timeout: manyPagesMs },
    async () => {
      const visit = await open('/browse?host=0')
      const links = visit.page.getByRole('main').locator('a[href^="/tables/"]')
      await waitUntil(async () => (await links.count()) >= 80)
      const paths = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''))
      for (const path of paths) {
        await visit.page.goto(`${product.url}${path}`)
        const title = await visit.page.getByRole('heading', { level: 1 }).innerText()
        const rows = visit.page.getByRole('region', { name: title, exact: true })
        await rows.getByRole('status').waitFor()
        await visit.networkIdle()
        expect(await visit.page.getByText('Failed to load').count(), title).toBe(0)
      }
      expect(visit.consoleErrors).toEqual([])
    },
  )
})
