import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}) => browser.open(product.url + path, options)
const button = ({ page }: Visit, name: string) => page.getByRole('button', { name, exact: true })
const dialog = ({ page }: Visit, name: string) => page.getByRole('dialog', { name, exact: true })
const panel = ({ page }: Visit, title: string) =>
  page.locator('[data-panel]').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

/** Creates a dashboard by the API and returns its id. */
const create = async (content: object): Promise<string> => {
  const response = await fetch(`${product.url}/api/v1/dashboards`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content: { schemaVersion: 1, title: 'Shop', ...content } }),
  })
  const { data } = (await response.json()) as { data: { id: string } }
  return data.id
}
const chart = (id: string, x: number, name = 'query-count') => ({ id, kind: 'chart', x, y: 0, w: 6, h: 7, chart: name })
const statement = (title: string, sql: string, view: string, more = {}) => ({
  id: title.toLowerCase(),
  kind: 'sql',
  x: 0,
  y: 7,
  w: 6,
  h: 6,
  title,
  sql,
  view,
  ...more,
})
const edit = async (path: string) => {
  const visit = await open(path)
  await button(visit, 'Edit').click()
  await expectVisible(button(visit, 'Save'))
  return visit
}
const place = (visit: Visit, title: string) =>
  visit.page
    .getByRole('group', { name: `Panel ${title}`, exact: true })
    .locator('..')
    .evaluate((element) => ['--column', '--row'].map((name) => getComputedStyle(element).getPropertyValue(name)))

describe('a new dashboard', () => {
  it('of four panels is built and shared with few clicks', async () => {
    const visit = await open('/dashboards?host=0')
    const { page } = visit
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    let clicks = 0
    const click = async (target: ReturnType<typeof button>) => {
      await target.click()
      clicks += 1
    }
    await click(page.getByRole('link', { name: 'New dashboard', exact: true }).first())
    const library = dialog(visit, 'Add panel')
    for (const title of ['Queries', 'CPU', 'Memory']) {
      await library.getByRole('searchbox').fill(title)
      await click(library.getByRole('button', { name: `Add ${title}`, exact: true }).first())
    }
    await library.getByRole('searchbox').fill('running queries')
    await click(library.getByRole('button', { name: 'Add Running queries', exact: true }).first())
    await expectVisible(library.getByText('4 panels added.'))
    await click(library.getByRole('button', { name: 'Done', exact: true }))
    await click(button(visit, 'Save'))
    await page.waitForURL(/\/dashboards\/d-/)
    await expectVisible(panel(visit, 'Queries'))
    await click(button(visit, 'Share dashboard'))
    await click(dialog(visit, 'Share dashboard').getByRole('button', { name: 'Copy link', exact: true }))
    await expectVisible(dialog(visit, 'Share dashboard').getByText('Link copied'))
    expect(clicks).toBeLessThanOrEqual(9)
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).toMatch(/from=\d+&to=\d+/)
    const shared = await browser.open(link)
    await expectVisible(panel(shared, 'Running queries'))
    expect(shared.consoleErrors).toEqual([])
  })

  it('is listed in its folder, starred, found and deleted', async () => {
    await create({ title: 'Listed', folder: 'Team', panels: [] })
    const visit = await open('/dashboards?host=0')
    const { page } = visit
    const main = page.getByRole('main')
    await button(visit, 'Star Listed').click()
    const team = page.getByRole('region', { name: 'Team', exact: true })
    await team.getByRole('link', { name: 'Listed', exact: true }).click()
    await expectVisible(button(visit, 'Share dashboard'))
    // The star of the list is that of the page, and there is only one.
    const stars = main.getByRole('button', { name: /^Star/ })
    expect(await stars.evaluateAll((all) => all.map((each) => each.getAttribute('aria-pressed')))).toEqual(['true'])
    await page.goBack()
    await main.getByRole('button', { name: 'Starred', exact: true }).click()
    await waitUntil(
      async () => (await page.getByRole('region', { name: 'Starter dashboards', exact: true }).count()) === 0,
    )
    await main.getByRole('button', { name: 'Starred', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Search dashboards', exact: true }).fill('listed')
    await waitUntil(
      async () => (await page.getByRole('region', { name: 'Starter dashboards', exact: true }).count()) === 0,
    )
    await team.getByRole('link', { name: 'Listed', exact: true }).click()
    await button(visit, 'More actions').click()
    await button(visit, 'Delete…').click()
    await dialog(visit, 'Delete dashboard').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.waitForURL(/\/dashboards\?/)
    await team.waitFor({ state: 'detached' })
  })
})

describe('panels', () => {
  it('move and change size by keyboard, which is announced and can be undone', async () => {
    const id = await create({ panels: [chart('a', 0), chart('b', 6, 'cpu-usage')] })
    const visit = await edit(`/dashboards/${id}?host=0`)
    const { page } = visit
    await button(visit, 'Move or resize Queries').focus()
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(() => place(visit, 'Queries')).toEqual(['1 / span 5', '1 / span 7'])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await expectVisible(page.getByText('Queries: column 2, row 1, 5 columns wide, 7 rows high'))
    expect(await button(visit, 'Move or resize Queries').evaluate((node) => node === document.activeElement)).toBe(true)
    await page.keyboard.press('Control+d')
    await waitUntil(async () => (await page.getByRole('group', { name: 'Panel Queries', exact: true }).count()) === 2)
    await button(visit, 'Undo').click()
    await waitUntil(async () => (await page.getByRole('group', { name: 'Panel Queries', exact: true }).count()) === 1)
  })

  it('move and change size by pointer', async () => {
    const id = await create({ panels: [chart('a', 0), chart('b', 6, 'cpu-usage')] })
    const visit = await edit(`/dashboards/${id}?host=0`)
    const { page } = visit
    const drag = async (selector: string, dx: number, dy: number) => {
      const box = await page.locator(selector).boundingBox()
      if (!box) throw new Error(`${selector} is not visible`)
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
      await page.mouse.move(x, y)
      await page.mouse.down()
      await page.mouse.move(x + dx, y + dy, { steps: 8 })
      await page.mouse.up()
    }
    const width = (await page.locator('[data-panel=a]').boundingBox())?.width ?? 0
    await drag('[data-resize=a]', -width / 3, 0)
    await expect.poll(() => place(visit, 'Queries')).toEqual(['1 / span 4', '1 / span 7'])
    await drag('[data-panel=b]', -width, 0)
    await expect.poll(() => place(visit, 'CPU')).toEqual(['1 / span 6', '1 / span 7'])
    await expect.poll(() => place(visit, 'Queries')).toEqual(['1 / span 4', '8 / span 7'])
    await button(visit, 'Save').click()
    await expectVisible(button(visit, 'Edit'))
  })

  it('show statements as series, bars, number and table, with variables bound by the host', async () => {
    const id = await create({
      variables: [
        { kind: 'list', name: 'shop', options: ["o'neil", 'b'] },
        { kind: 'query', name: 'unit', sql: "SELECT arrayJoin(['kg', 'lb'])" },
      ],
      panels: [
        statement(
          'Series',
          'SELECT toDateTime({from}) + number * 60 AS time, number AS height FROM numbers(30)',
          'time',
          { y: 0 },
        ),
        statement('Bars', "SELECT concat('n', toString(number)) AS name, number AS height FROM numbers(3)", 'bars', {
          x: 6,
          y: 0,
        }),
        statement('Number', 'SELECT 42 AS answer', 'number', { y: 6 }),
        statement(
          'Table',
          "SELECT {shop} AS shop, length({shop}) AS letters, {unit} AS unit, '{shop}' AS quoted",
          'table',
          { x: 6, y: 6 },
        ),
      ],
    })
    const visit = await open(`/dashboards/${id}?host=0&var-unit=kg`)
    const { page } = visit
    await expectVisible(panel(visit, 'Series').getByRole('figure'))
    await expectVisible(panel(visit, 'Bars').getByText('n2'))
    await expectVisible(panel(visit, 'Number').getByText('42'))
    const cells = () => panel(visit, 'Table').getByRole('cell').allInnerTexts()
    await expect.poll(cells).toEqual(["o'neil", '6', 'kg', '{shop}'])
    await page.getByRole('combobox', { name: 'shop', exact: true }).selectOption('b')
    await expect.poll(cells).toEqual(['b', '1', 'kg', '{shop}'])
    expect(page.url()).toContain('var-shop=b')
    expect(visit.requests.filter((request) => request.includes('explorer/query'))).toEqual([])
    expect(visit.consoleErrors).toEqual([])
  })

  it('show texts without HTML, SLOs with their error budget, table pages and alerts', async () => {
    const id = await create({
      panels: [
        {
          id: 'a',
          kind: 'text',
          x: 0,
          y: 0,
          w: 6,
          h: 4,
          title: 'Notes',
          markdown: '**bold** <img src=x onerror=alert(1)>',
        },
        {
          id: 'b',
          kind: 'slo',
          x: 6,
          y: 0,
          w: 6,
          h: 4,
          title: 'Objective',
          objective: 99,
          windowDays: 1,
          source: { kind: 'sql', sql: 'SELECT 995 AS good, 1000 AS total' },
        },
        { id: 'c', kind: 'table', x: 0, y: 4, w: 12, h: 8, table: 'tables-overview', search: 'orders' },
        { id: 'd', kind: 'alerts', x: 0, y: 12, w: 6, h: 6 },
      ],
    })
    const visit = await open(`/dashboards/${id}?host=0`)
    await expectVisible(panel(visit, 'Notes').getByText('<img src=x onerror=alert(1)>'))
    expect(await panel(visit, 'Notes').locator('img').count()).toBe(0)
    await expectVisible(panel(visit, 'Objective').getByText('99.5 %'))
    await expectVisible(panel(visit, 'Objective').getByText(/50 % of the error budget left/))
    await expectVisible(visit.page.getByText('orders').first())
    await expectVisible(panel(visit, 'Alerts'))
  })

  it('are written in the panel form, with a preview of the result', async () => {
    const id = await create({ panels: [statement('Mine', 'SELECT 1 AS one', 'number')] })
    const visit = await edit(`/dashboards/${id}?host=0`)
    await button(visit, 'Edit Mine').click()
    const form = dialog(visit, 'Edit Mine')
    await form.getByRole('textbox', { name: 'SQL statement', exact: true }).click()
    await visit.page.keyboard.press('Control+a')
    await visit.page.keyboard.type('SELECT {nothing} AS two')
    await visit.page.keyboard.press('Escape')
    await form.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(form.getByText(/unknown variable "\{nothing\}"; allowed: \{from\}, \{to\}, \{interval\}/))
    await form.getByRole('textbox', { name: 'SQL statement', exact: true }).click()
    await visit.page.keyboard.press('Control+a')
    await visit.page.keyboard.type('SELECT 2 AS two')
    await form.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(form.getByRole('group', { name: 'Preview', exact: true }).getByText('two'))
    await form.getByRole('button', { name: 'Apply', exact: true }).click()
    await button(visit, 'Save').click()
    await expectVisible(panel(visit, 'Mine').getByText('two'))
  })
})

describe('changes', () => {
  it('of another user are not overwritten', async () => {
    const id = await create({ panels: [chart('a', 0)] })
    const visit = await edit(`/dashboards/${id}?host=0`)
    await button(visit, 'Remove Queries').click()
    await fetch(`${product.url}/api/v1/dashboards/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ version: 1, content: { schemaVersion: 1, title: 'Theirs' } }),
    })
    await button(visit, 'Save').click()
    await expectVisible(
      visit.page.getByText(
        /dashboard "Theirs" was changed by "anonymous" at .*you edited version 1, the current one is 2/,
      ),
    )
    await button(visit, 'Save as copy').click()
    await expectVisible(visit.page.getByRole('heading', { name: 'Shop (copy)', exact: true }))
  })

  it('that are not saved are kept until the user discards them', async () => {
    const id = await create({ panels: [chart('a', 0)] })
    const visit = await edit(`/dashboards/${id}?host=0`)
    await button(visit, 'Remove Queries').click()
    await visit.page
      .getByRole('navigation', { name: 'Breadcrumbs', exact: true })
      .getByRole('link', { name: 'Dashboards', exact: true })
      .click()
    const warning = dialog(visit, 'Unsaved changes')
    await warning.getByRole('button', { name: 'Keep editing', exact: true }).click()
    await button(visit, 'Undo').click()
    await expectVisible(visit.page.getByRole('group', { name: 'Panel Queries', exact: true }))
    await button(visit, 'Redo').click()
    await visit.page
      .getByRole('navigation', { name: 'Breadcrumbs', exact: true })
      .getByRole('link', { name: 'Dashboards', exact: true })
      .click()
    await warning.getByRole('button', { name: 'Discard changes', exact: true }).click()
    await visit.page.waitForURL(/\/dashboards\?/)
  })

  it('have versions, which can be viewed and restored', async () => {
    const id = await create({ panels: [chart('a', 0)] })
    const visit = await edit(`/dashboards/${id}?host=0`)
    await button(visit, 'Remove Queries').click()
    await button(visit, 'Save').click()
    await button(visit, 'More actions').click()
    await button(visit, 'Versions').click()
    await dialog(visit, 'Versions').getByRole('button', { name: 'Restore version 1', exact: true }).click()
    await expectVisible(panel(visit, 'Queries'))
  })
})

describe('documents', () => {
  it('are exported, and imported again', async () => {
    const id = await create({ title: 'Exported', panels: [chart('a', 0)] })
    const visit = await open(`/dashboards/${id}?host=0`)
    const download = async (name: string) => {
      await button(visit, 'More actions').click()
      const [file] = await Promise.all([visit.page.waitForEvent('download'), button(visit, name).click()])
      return readFile(await file.path(), 'utf8')
    }
    const grafana = JSON.parse(await download('Export for Grafana')) as { panels: { targets: { rawSql: string }[] }[] }
    expect(grafana.panels[0]?.targets[0]?.rawSql).toContain('$__fromTime')
    const text = await download('Export as JSON')
    await visit.page.goto(`${product.url}/dashboards?host=0`)
    await button(visit, 'Import').click()
    const form = dialog(visit, 'Import dashboard')
    const field = form.getByRole('textbox', { name: /^JSON of/ })
    const send = () => form.getByRole('button', { name: 'Import', exact: true }).click()
    await field.fill('{"schemaVersion": 1,')
    await send()
    await expectVisible(form.getByText(/the document is not JSON/))
    const unknown = text.replace('query-count', 'query-coutn')
    await field.fill(unknown)
    await send()
    await expectVisible(
      form.getByText(/content\.panels\.0\.chart has an unknown chart "query-coutn"; did you mean "query-count"\?/),
    )
    expect(await field.inputValue()).toBe(unknown)
    await field.fill(text)
    await send()
    await visit.page.waitForURL(/\/dashboards\/d-/)
    await expectVisible(visit.page.getByRole('heading', { name: 'Exported', exact: true }))
  })
})

describe('starter dashboards', () => {
  it.each([
    'host-overview',
    'query-performance',
    'ingestion',
    'merges-and-parts',
    'replication-and-keeper',
    'storage-and-capacity',
  ])('%s shows its panels without a failure, and is accessible', async (name) => {
    const visit = await open(`/dashboards/starter-${name}?host=0`)
    await visit.networkIdle()
    expect(await visit.page.getByText('Failed to load').count()).toBe(0)
    expect(await visit.page.getByText('Unknown chart').count()).toBe(0)
    await expectVisible(button(visit, 'Save as copy'))
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })

  it('are shown in full screen, in turn', async () => {
    const visit = await open('/dashboards/starter-ingestion?host=0&tv=1&rotate=10&among=folder:Starter+dashboards')
    await expectVisible(visit.page.getByRole('heading', { level: 1, name: 'Ingestion', exact: true }))
    await visit.page.waitForURL(/\/dashboards\/starter-merges-and-parts/)
    await expectVisible(visit.page.getByRole('heading', { level: 1, name: 'Merges and parts', exact: true }))
    await visit.page.keyboard.press('Escape')
    await expectVisible(button(visit, 'Share dashboard'))
  })
})

describe('a saved view', () => {
  it('opens a table page with its filters and sort order', async () => {
    const visit = await open('/tables/tables-overview?host=0&search=orders&sort=name.asc')
    const { page } = visit
    await button(visit, 'Views').click()
    const views = dialog(visit, 'Saved views')
    await views.getByRole('textbox').fill('Orders')
    await views.getByRole('checkbox', { name: 'Share with all users', exact: true }).check()
    await views.getByRole('button', { name: 'Save view', exact: true }).click()
    await expectVisible(views.getByRole('link', { name: 'Orders', exact: true }))
    await page.goto(`${product.url}/tables/tables-overview?host=0`)
    await button(visit, 'Views').click()
    await views.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.waitForURL(/search=orders&sort=name\.asc/)
    await button(visit, 'Views').click()
    await views.getByRole('button', { name: 'Delete view Orders', exact: true }).click()
    await expectVisible(views.getByText('No saved views of this page.'))
  })
})
