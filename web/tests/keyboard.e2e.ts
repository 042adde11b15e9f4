// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { type Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let one: Sandbox
let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  one = scope.use(await startSeededHost('one'))
  const directory = await mkdtemp(join(tmpdir(), 'keyboard-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const env = { SVC_QUERY_CACHE: 'false', SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}` }
  product = scope.use(await startProduct({ hosts: [{ url: one.url, name: 'one' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string): Promise<Visit> => browser.open(`${product.url}${path}`)

/** Returns the id, the accessible name or the text of the focused element. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = document
    return element?.id || element?.getAttribute('aria-label') || element?.textContent?.trim() || ''
  })
const holds = (page: Page, name: string | RegExp): Promise<void> =>
  waitUntil(async () => (typeof name === 'string' ? (await focused(page)) === name : name.test(await focused(page))))

describe('the focus', () => {
  it.each([
    ['a laptop', { width: 1440, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
    ['a laptop that draws all four times as large', { width: 320, height: 256 }],
  ])('is not hidden on %s by the sticky header', async (_device, viewport) => {
    const { page } = await browser.open(`${product.url}/health?host=0&search=e`, { viewport })
    await expectVisible(page.getByRole('heading', { name: 'Checks', exact: true }))
    // Moves backwards from the last button, so that focused elements scroll into view below the sticky header.
    await page
      .getByRole('button', { name: /^(Diagnose|What to do)/ })
      .last()
      .focus()
    const covered: string[] = []
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press('Shift+Tab')
      const isCovered = await page.evaluate(() => {
        const box = document.activeElement?.getBoundingClientRect()
        const above = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
        return !document.activeElement?.contains(above ?? null)
      })
      if (isCovered) covered.push(await focused(page))
    }
    expect(covered).toEqual([])
  })

  it('shares one header row with search and account on a tablet', async () => {
    const { page } = await browser.open(`${product.url}/hosts?host=0`, { viewport: { width: 768, height: 1024 } })
    const [search, account] = [
      page.getByTitle('Search or run a command (Ctrl K)'),
      page.getByRole('button', { name: /^Account/ }),
    ]
    expect((await account.boundingBox())?.y).toBe((await search.boundingBox())?.y)
  })

  it('moves to the beginning of a page after navigation by link or palette', async () => {
    const { page } = await open('/overview?host=0')
    await page
      .getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'Fleet', exact: true })
      .press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Fleet', exact: true }).waitFor()
    await holds(page, 'content')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command', exact: true }).fill('slow queries')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Slow queries', exact: true }).waitFor()
    await holds(page, 'content')
  })

  it('stays on the table that was selected in the tree', async () => {
    const { page } = await open('/explorer?host=0&database=shop')
    await page
      .getByRole('navigation', { name: 'Databases and tables', exact: true })
      .getByRole('link', { name: 'orders', exact: true })
      .press('Enter')
    await page.getByRole('heading', { level: 1, name: /orders/ }).waitFor()
    await holds(page, 'orders')
  })

  it('stays in the table after its filter is removed', async () => {
    const { page } = await open('/tables/history-queries?host=0&filter=user.ne.none')
    await page.getByRole('button', { name: 'Remove filter on User', exact: true }).press('Enter')
    await holds(page, 'Query history')
  })

  it('starts in the first field of a dialog and returns to its opener on close', async () => {
    const { page } = await open('/overview?host=0')
    await page.getByRole('button', { name: 'Account and settings', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Settings…', exact: true }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Settings', exact: true })
    await waitUntil(() =>
      dialog.getByRole('radio', { name: 'system', exact: true }).evaluate((radio) => radio === document.activeElement),
    )
    await dialog.getByRole('button', { name: 'Close', exact: true }).press('Enter')
    await holds(page, 'Account and settings')
  })

  it('stays in the dialog of an action, and in the table if the action removes the row', async () => {
    const id = 'killed-by-keyboard'
    const sql = 'SELECT sleepEachRow(1) FROM numbers(120) SETTINGS max_block_size = 1'
    const running = fetch(`${one.url}/?query_id=${id}`, { method: 'POST', body: sql })
    const { page } = await open('/tables/running-queries?host=0')
    const row = page.getByRole('row').filter({ hasText: id })
    await waitUntil(async () => {
      if ((await row.count()) > 0) return true
      await page.getByRole('button', { name: 'Refresh now', exact: true }).press('Enter')
      return false
    }, 500)
    await row.getByRole('button', { name: 'Kill', exact: true }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Kill', exact: true }).press('Enter')
    await expectVisible(dialog.getByText(/^Completed on the host/))
    await running
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().press('Enter')
    await waitUntil(async () => (await row.count()) === 0)
    await holds(page, /^Running queries/)
  })

  it('follows the row of a button when rows are reordered', async () => {
    const sql = 'SELECT sleepEachRow(1) FROM numbers(120) SETTINGS max_block_size = 1'
    const ids = ['first-to-end', 'stays-between', 'last-to-begin']
    const { page } = await open('/tables/running-queries?host=0')
    const rowOf = (id: string) => page.getByRole('row').filter({ hasText: id })
    const shows = (id: string, times: number) =>
      waitUntil(async () => {
        if ((await rowOf(id).count()) === times) return true
        // `dispatchEvent` does not move the focus, unlike `click`.
        await page.getByRole('button', { name: 'Refresh now', exact: true }).dispatchEvent('click')
        return false
      }, 500)
    const running: Promise<Response>[] = []
    for (const id of ids) {
      running.push(fetch(`${one.url}/?query_id=${id}`, { method: 'POST', body: sql }))
      await shows(id, 1)
    }
    await rowOf('stays-between').getByRole('button', { name: 'Kill', exact: true }).focus()
    await fetch(one.url, { method: 'POST', body: `KILL QUERY WHERE query_id = 'first-to-end'` })
    await shows('first-to-end', 0)
    await page.keyboard.press('Enter')
    await expectVisible(page.getByRole('dialog').getByText('Kill query stays-between?'))
    await fetch(one.url, { method: 'POST', body: `KILL QUERY WHERE query_id IN ('stays-between', 'last-to-begin')` })
    await Promise.all(running)
  })

  it('stays on the run button during a run, and moves to the editor for a new statement', async () => {
    const sql = encodeURIComponent('SELECT max(cityHash64(number, 7)) FROM numbers(1000000000000)')
    const { page } = await open(`/console?host=0&sql=${sql}`)
    await page.getByRole('textbox', { name: 'SQL statement', exact: true }).waitFor()
    await page.waitForURL(/tab=/)
    await page.getByRole('button', { name: 'Run', exact: true }).press('Enter')
    await holds(page, 'Cancel')
    await page.keyboard.press('Enter')
    await holds(page, 'Run')
    await page.getByRole('button', { name: 'New tab', exact: true }).press('Enter')
    await holds(page, 'SQL statement')
    await page.keyboard.type('SELECT 42')
    await page.getByRole('link', { name: 'SELECT 42', exact: true }).waitFor()
  })

  it('returns to the button that opened a form', async () => {
    const { page } = await open('/alerts/rules?host=0')
    await page.getByRole('button', { name: 'Edit Long query', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Cancel', exact: true }).press('Enter')
    await holds(page, 'Edit Long query')
  })

  it('is visible during a search', async () => {
    const { page } = await open('/tables/history-queries?host=0')
    const field = page.getByRole('searchbox', { name: 'Search all text columns', exact: true })
    await field.press('Shift')
    expect(await field.evaluate((input) => getComputedStyle(input.parentElement ?? input).outlineStyle)).toBe('solid')
  })
})
