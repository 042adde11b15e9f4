import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { fetchText } from '../../services/sandbox/curl.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let sandbox: Sandbox
let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = async (sql = '', options = {}): Promise<Visit> => {
  const visit = await browser.visit(options)
  const given = sql ? `&sql=${encodeURIComponent(sql)}` : ''
  await visit.page.goto(`${product.url}/console?host=0${given}`)
  await expectVisible(editor(visit))
  await visit.page.waitForURL(/tab=/)
  await visit.networkIdle()
  return visit
}
/** Returns the text box of the SQL editor. */
const editor = ({ page }: Visit) => page.getByRole('textbox', { name: 'SQL statement', exact: true })
const result = ({ page }: Visit) => page.getByRole('region', { name: 'Result', exact: true })

const write = async (visit: Visit, text: string) => {
  await editor(visit).click()
  await visit.page.keyboard.press('Control+a')
  await visit.page.keyboard.type(text)
}

describe('a statement', () => {
  it('runs by keyboard and shows rows with query statistics', async () => {
    const visit = await open()
    await write(visit, "SELECT concat('n', toString(number)) AS name, number FROM numbers(2)")
    await visit.page.keyboard.press('Escape')
    await visit.page.keyboard.press('Control+Enter')
    const table = result(visit).getByRole('table', { name: 'Result', exact: true })
    await expectVisible(table.getByRole('cell', { name: 'n1', exact: true }))
    await expect.poll(() => table.getByRole('cell').allInnerTexts()).toEqual(['n0', '0', '', 'n1', '1', ''])
    await expectVisible(
      result(visit)
        .getByRole('status')
        .filter({ hasText: /2\s+rows in .*; read/ }),
    )
    await expectVisible(result(visit).getByRole('link', { name: 'Query details', exact: true }))
    expect(visit.consoleErrors).toEqual([])
  })

  it('is cancelled, also on the host', async () => {
    const visit = await open('SELECT max(cityHash64(number, 7)) FROM numbers(1000000000000)')
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(
      result(visit)
        .getByRole('status')
        .filter({ hasText: /^Running/ }),
    )
    const running = () =>
      fetchText(
        sandbox.url,
        "SELECT count() FROM system.processes WHERE query LIKE '%cityHash64(number, 7)%' AND query NOT LIKE '%processes%'",
      )
    await waitUntil(async () => (await running()) === '1')
    await visit.page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await expectVisible(result(visit).getByText(/^Cancelled after/))
    await waitUntil(async () => (await running()) === '0')
    await expectVisible(visit.page.getByRole('button', { name: 'Run', exact: true }))
  })

  it('shows the error and its position', async () => {
    const visit = await open('SELECT 1;\nSELECT 2 FORM numbers(5)')
    await editor(visit).click()
    await visit.page.keyboard.press('Control+End')
    await visit.page.keyboard.press('Control+Enter')
    await expectVisible(
      result(visit)
        .getByRole('alert')
        .getByText(/SYNTAX_ERROR/),
    )
    await waitUntil(async () => (await editor(visit).locator('.cm-wrong').count()) === 1)
  })

  it('is the one at the cursor if there are several', async () => {
    const visit = await open("SELECT 'first' AS word;\nSELECT 'second' AS word;")
    await editor(visit).click()
    await visit.page.keyboard.press('Control+Home')
    await visit.page.keyboard.press('Control+Enter')
    await expectVisible(result(visit).getByRole('cell', { name: 'first', exact: true }))
  })

  it('runs when the cursor is in a comment at its end', async () => {
    const visit = await open("SELECT 'said' AS word -- as it was")
    await editor(visit).click()
    await visit.page.keyboard.press('Control+End')
    await visit.page.keyboard.press('Control+Enter')
    await expectVisible(result(visit).getByRole('cell', { name: 'said', exact: true }))
  })

  it('is rejected if it would write, with a read-only alternative', async () => {
    const visit = await open('SHOW TABLES')
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(result(visit).getByText('Statement rejected'))
    await expectVisible(result(visit).getByText(/instead: system\.tables/))
  })

  it('shows estimated reads before it runs', async () => {
    const visit = await open('SELECT count() FROM shop.orders WHERE customer_id = 7')
    await expectVisible(visit.page.getByText(/^Reads up to .* rows, .* from shop\.orders\.$/))
  })
})

describe('completion', () => {
  const options = ({ page }: Visit) => page.getByRole('listbox').getByRole('option')

  it('offers the functions and keywords of the host', async () => {
    const visit = await open()
    const [name = ''] = (
      await fetchText(
        sandbox.url,
        "SELECT name FROM system.functions WHERE name LIKE 'quantileTDigest%' ORDER BY length(name) LIMIT 1",
      )
    ).split('\n')
    await write(visit, 'SELECT quantileTD')
    await options(visit).filter({ hasText: name }).first().click()
    await expectVisible(editor(visit).getByText(`SELECT ${name}`))
    await write(visit, 'PREWH')
    await expectVisible(options(visit).filter({ hasText: 'PREWHERE' }).first())
  })

  it('completes text that was typed before the vocabulary was loaded', async () => {
    const visit = await browser.visit()
    const written = Promise.withResolvers<void>()
    await visit.page.route('**/api/v1/explorer/query*', async (route) => {
      await written.promise
      await route.continue()
    })
    await visit.page.goto(`${product.url}/console?host=0`)
    await write(visit, 'SELECT quantileTD')
    // Completion starts after a typing pause of 0.1 s, so its requests have been sent by now.
    await visit.page.waitForTimeout(500)
    written.resolve()
    await expectVisible(options(visit).filter({ hasText: 'quantileTDigest' }).first())
  })

  it('sends no request for a table whose name is incomplete', async () => {
    const visit = await open()
    await write(visit, 'SELECT number FROM quantil')
    await expectVisible(options(visit).filter({ hasText: 'quantile' }).first())
    expect(visit.consoleErrors).toEqual([])
  })

  it('offers the tables of a database, and the columns of a table alias', async () => {
    const visit = await open()
    await write(visit, 'SELECT * FROM shop.ord')
    await options(visit).filter({ hasText: 'orders' }).first().click()
    await visit.page.keyboard.type(' AS o WHERE o.am')
    await options(visit).filter({ hasText: 'amount' }).first().click()
    await expectVisible(editor(visit).getByText('SELECT * FROM shop.orders AS o WHERE o.amount'))
  })
})

describe('a result', () => {
  it('shows a row in full, with long values and nulls', async () => {
    const visit = await open("SELECT repeat('long ', 100) AS text, NULL AS nothing")
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await result(visit).getByRole('button', { name: 'Show row', exact: true }).click()
    const row = visit.page.getByRole('dialog', { name: 'Row', exact: true })
    expect((await row.getByRole('region', { name: 'text', exact: true }).innerText()).length).toBe(500)
    await expectVisible(row.getByRole('region', { name: 'nothing', exact: true }).getByText('NULL'))
  })

  it('is kept when the user returns from the query page', async () => {
    const visit = await open("SELECT 'back' AS word")
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await result(visit).getByRole('link', { name: 'Query details', exact: true }).click()
    await visit.page.waitForURL(/\/queries\//)
    await visit.page.goBack()
    await expectVisible(result(visit).getByRole('cell', { name: 'back', exact: true }))
  })

  it('is exported as CSV in the format of the host', async () => {
    const sql = "SELECT number, concat('row ', toString(number)) AS text FROM numbers(5)"
    const visit = await open(sql)
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await result(visit).getByRole('button', { name: 'Export', exact: true }).click()
    const [download] = await Promise.all([
      visit.page.waitForEvent('download'),
      visit.page
        .getByRole('dialog', { name: 'Export', exact: true })
        .getByRole('button', { name: 'CSV', exact: true })
        .click(),
    ])
    expect(download.suggestedFilename()).toBe('query.csv')
    const file = await readFile(await download.path(), 'utf8')
    expect(file.trimEnd()).toBe(await fetchText(sandbox.url, `${sql} FORMAT CSVWithNames`))
  })

  it('can be shown as a time chart', async () => {
    const visit = await open(
      "SELECT toDateTime('2026-01-01 00:00:00', 'UTC') + number * 60 AS at, number AS height FROM numbers(30)",
    )
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await result(visit).getByRole('button', { name: 'Chart', exact: true }).click()
    await expectVisible(
      visit.page.getByRole('figure', { name: /^Result, 01 Jan 00:00 to 01 Jan 00:29: height now 29/ }),
    )
    await visit.page.getByRole('combobox', { name: 'Chart type', exact: true }).selectOption('Bars')
    await expectVisible(visit.page.getByRole('figure', { name: /^Result,/ }))
  })
})

describe('the console', () => {
  it('keeps tabs and the run history across a reload', async () => {
    const visit = await open("SELECT 'kept' AS word")
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(result(visit).getByRole('cell', { name: 'kept', exact: true }))
    await visit.page.getByRole('button', { name: 'New tab', exact: true }).click()
    await write(visit, 'SELECT 2')
    const tabs = visit.page.getByRole('navigation', { name: 'Statements', exact: true }).getByRole('link')
    await waitUntil(async () => (await tabs.count()) === 2)
    await visit.page.reload()
    await expectVisible(editor(visit).getByText('SELECT 2'))
    await visit.page.getByRole('button', { name: 'History', exact: true }).click()
    await visit.page
      .getByRole('dialog', { name: 'History', exact: true })
      .getByRole('button', { name: /'kept'/ })
      .click()
    await expectVisible(editor(visit).getByText("SELECT 'kept' AS word"))
    await visit.page
      .getByRole('button', { name: /^Close SELECT 'kept'/ })
      .last()
      .click()
    await waitUntil(async () => (await tabs.count()) === 2)
  })

  it('shows the name of a renamed tab', async () => {
    const visit = await open('SELECT 1')
    await visit.page.getByRole('button', { name: 'Rename tab SELECT 1', exact: true }).click()
    await visit.page.getByRole('textbox', { name: 'Tab name', exact: true }).fill('Slow ones')
    await visit.page.keyboard.press('Enter')
    const tab = visit.page
      .getByRole('navigation', { name: 'Statements', exact: true })
      .getByRole('link', { name: 'Slow ones', exact: true })
    await expectVisible(tab)
    await visit.page.reload()
    await expectVisible(tab)
  })

  it('reopens a closed tab by button and by key, with text, name and position', async () => {
    const visit = await open('SELECT 1')
    const { page } = visit
    await page.getByRole('button', { name: 'Rename tab SELECT 1', exact: true }).click()
    await page.getByRole('textbox', { name: 'Tab name', exact: true }).fill('Slow ones')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'New tab', exact: true }).click()
    await write(visit, 'SELECT 2')
    const tabs = page.getByRole('navigation', { name: 'Statements', exact: true }).getByRole('link')
    const named = async (names: string) => waitUntil(async () => (await tabs.allInnerTexts()).join() === names)
    const close = () => page.getByRole('button', { name: 'Close Slow ones', exact: true }).click()
    await named('Slow ones,SELECT 2')
    await close()
    await named('SELECT 2')
    await page.getByRole('button', { name: 'Reopen closed tab Slow ones', exact: true }).click()
    await named('Slow ones,SELECT 2')
    await expectVisible(editor(visit).getByText('SELECT 1'))
    await close()
    await named('SELECT 2')
    await page.reload()
    await editor(visit).click()
    await page.keyboard.press('Alt+Shift+Z')
    await named('Slow ones,SELECT 2')
    await expectVisible(editor(visit).getByText('SELECT 1'))
    await waitUntil(async () => (await page.getByRole('button', { name: /^Reopen closed tab/ }).count()) === 0)
  })

  it.each([1440, 390])('warns at %d px before a new tab closes the first one, which can be reopened', async (width) => {
    const visit = await open('SELECT 0', { viewport: { width, height: 900 } })
    const { page } = visit
    await page.evaluate(() => {
      const drafts = Array.from({ length: 19 }, (_, index) => ({
        id: `t${index}`,
        sql: `SELECT ${index}`,
        database: '',
      }))
      localStorage.setItem('console', JSON.stringify({ drafts, past: [] }))
    })
    await page.goto(`${product.url}/console?host=0&tab=t18`)
    const warning = page.getByText('20 tabs are open. Opening another one closes the oldest, “SELECT 0”')
    await expectVisible(editor(visit).getByText('SELECT 18'))
    expect(await warning.count()).toBe(0)
    const further = page.getByRole('button', { name: 'New tab', exact: true })
    await further.click()
    await expectVisible(warning)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await further.click()
    await page.getByRole('button', { name: 'Reopen closed tab SELECT 0', exact: true }).click()
    await expectVisible(editor(visit).getByText('SELECT 0'))
    const tabs = page.getByRole('navigation', { name: 'Statements', exact: true }).getByRole('link')
    await expect.poll(async () => [await tabs.count(), await tabs.first().innerText()]).toEqual([20, 'SELECT 0'])
  })

  it('keeps the changes of two windows', async () => {
    const visit = await open('SELECT 1')
    const other = await visit.page.context().newPage()
    await other.goto(`${product.url}/console?host=0&sql=SELECT+2`)
    await expectVisible(other.getByRole('link', { name: 'SELECT 2', exact: true }))
    await write(visit, 'SELECT 3')
    await other.reload()
    const tabs = other.getByRole('navigation', { name: 'Statements', exact: true }).getByRole('link')
    await waitUntil(async () => (await tabs.allInnerTexts()).join() === 'SELECT 3,SELECT 2')
  })

  it('releases the focus with Tab', async () => {
    const visit = await open('SELECT 1')
    await editor(visit).click()
    await visit.page.keyboard.press('Tab')
    expect(await visit.page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Run')
  })
})

// Tests both themes, because colours depend on the theme, and two widths, because the layout depends on the width.
it.each([
  ['light', 1440],
  ['dark', 390],
] as const)(
  'in the %s theme at %d px there are no accessibility violations, with a result',
  async (colorScheme, width) => {
    const visit = await open('SELECT name, value FROM system.settings LIMIT 20', {
      colorScheme,
      viewport: { width, height: 900 },
      reducedMotion: 'reduce',
    })
    await visit.page.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(result(visit).getByRole('table', { name: 'Result', exact: true }))
    await visit.networkIdle()
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  },
)
