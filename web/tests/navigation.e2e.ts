import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { fetchJson, queryClickHouse } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { routes } from './routes.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let one: Sandbox
let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  one = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: one.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}): Promise<Visit> =>
  browser.open(`${product.url}${path}`, options, (page) => page.getByRole('heading', { level: 1 }).first())

const menuOf = (page: Page): Locator => page.getByRole('navigation', { name: 'Pages', exact: true })
const pathsOf = (links: Locator): Promise<string[]> =>
  links.evaluateAll((found) => found.map((link) => link.getAttribute('href')?.split('?', 1)[0] ?? ''))
const palette = (page: Page): Locator => page.getByRole('combobox', { name: 'Search or run a command', exact: true })

describe('the menu', () => {
  it.each(['/overview', '/tables/slow-queries', '/alerts/rules', '/about', '/browse'])(
    'has all its entries in view on a laptop at %s, each once',
    async (path) => {
      const { page } = await open(`${path}?host=0`)
      const menu = menuOf(page)
      await menu.getByRole('link', { name: 'All pages', exact: true }).waitFor()
      const bottoms = await menu
        .getByRole('link')
        .or(menu.getByRole('button'))
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().bottom))
      expect(bottoms.length).toBeGreaterThan(20)
      expect(Math.max(...bottoms)).toBeLessThanOrEqual(900)
      const paths = await pathsOf(menu.getByRole('link'))
      expect(paths.filter((each, index) => paths.indexOf(each) !== index)).toEqual([])
      expect(await menu.evaluate((each) => each.scrollHeight <= each.clientHeight)).toBe(true)
    },
  )

  it('leads to running and slow queries, merges and replicas with one click', async () => {
    const { page } = await open('/overview?host=0')
    for (const [name, heading] of [
      ['Running', 'Running queries'],
      ['Slow', 'Slow queries'],
      ['Merges', 'Merges'],
      ['Replicas', 'Replicas'],
    ] as const) {
      await menuOf(page)
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .click()
      await expectVisible(page.getByRole('heading', { level: 1, name: heading, exact: true }))
    }
  })

  it('keeps groups open or closed as the user left them, also after a reload', async () => {
    const { page } = await open('/overview?host=0')
    const menu = menuOf(page)
    await menu.getByRole('button', { name: 'Queries: hide pages', exact: true }).click()
    await menu.getByRole('button', { name: 'Settings: show pages', exact: true }).click()
    await expectVisible(menu.getByRole('link', { name: 'API keys', exact: true }))
    await page.reload()
    await expectVisible(menu.getByRole('link', { name: 'API keys', exact: true }))
    expect(await menu.getByRole('link', { name: 'Slow', exact: true }).count()).toBe(0)
    expect(await menu.getByRole('link', { name: 'Explorer', exact: true }).isVisible()).toBe(true)
  })

  it('has the same groups in the drawer of a phone, in sizes for fingers', async () => {
    const { page } = await open('/overview?host=0')
    const groups = await menuOf(page).locator('ul > li > div > a > span.truncate').allInnerTexts()
    const phone = await open('/overview?host=0', { viewport: { width: 390, height: 844 } })
    const button = phone.page.getByRole('button', { name: 'Menu', exact: true })
    await button.click()
    const drawer = phone.page.getByRole('dialog', { name: 'Menu', exact: true })
    await drawer.getByRole('link', { name: 'All pages', exact: true }).waitFor()
    expect(await drawer.locator('ul > li > div > a > span.truncate').allInnerTexts()).toEqual(groups)
    await drawer.getByRole('button', { name: 'Queries: show pages', exact: true }).click()
    const heights = await drawer
      .getByRole('link')
      .or(drawer.getByRole('button'))
      .evaluateAll((all) =>
        all.filter((each) => each.closest('nav')).map((each) => Math.round(each.getBoundingClientRect().height)),
      )
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
    expect(await findAccessibilityViolations(phone)).toEqual([])
    await drawer.getByRole('link', { name: 'Slow', exact: true }).click()
    await expectVisible(phone.page.getByRole('heading', { level: 1, name: 'Slow queries', exact: true }))
    await drawer.waitFor({ state: 'detached' })
  })
})

describe('the list of all pages', () => {
  it('leads to every page, topic, table page and chart', async () => {
    const visit = await open('/browse?host=0')
    const main = visit.page.getByRole('main')
    await waitUntil(async () => (await main.locator('a[href^="/charts/"]').count()) > 100)
    const paths = new Set(await pathsOf(main.getByRole('link')))
    const { body } = await fetchJson(`${product.url}/api/v1/config`)
    const { catalogue } = (
      body as { data: { catalogue: Record<'tables' | 'charts', { name: string; topic: string }[]> } }
    ).data
    const wanted = [
      ...catalogue.tables.flatMap(({ name, topic }) => [`/tables/${name}`, `/topics/${topic}`]),
      ...catalogue.charts.flatMap(({ name, topic }) => [`/charts/${name}`, `/topics/${topic}`]),
    ]
    expect(wanted.filter((path) => !paths.has(path))).toEqual([])
    // These pages are offered only where they are set up, or other pages lead to them.
    const others = new Set(['/', '/device', '/sign-in', '/management', '/alerts/webhooks', '/postgres', '/repldb'])
    expect(routes.filter((route) => !route.includes('[') && !others.has(route) && !paths.has(route))).toEqual([])
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })

  it('of one group is searched by any word', async () => {
    const { page } = await open('/browse/data?host=0')
    const main = page.getByRole('main')
    await expectVisible(main.getByRole('heading', { level: 1, name: 'Data', exact: true }))
    await main.getByRole('searchbox', { name: 'Search pages', exact: true }).fill('detached')
    await page.waitForURL(/search=detached/)
    await expectVisible(main.getByRole('link', { name: /^Detached parts/ }))
    expect(await main.getByRole('link', { name: /^Explorer Databases/ }).count()).toBe(0)
    await main.getByRole('searchbox', { name: 'Search pages', exact: true }).fill('nothing like this')
    await main.getByRole('button', { name: 'Clear search', exact: true }).click()
    await expectVisible(main.getByRole('link', { name: /^Explorer Databases/ }))
  })

  it('suggests the groups for an unknown one', async () => {
    const { page } = await open('/browse/data-bases?host=0')
    await page.getByRole('main').getByRole('link', { name: 'Data', exact: true }).click()
    await expectVisible(page.getByRole('heading', { level: 1, name: 'Data', exact: true }))
  })
})

describe('starred and recent pages', () => {
  it('are in the menu and first in the palette, also after a reload', async () => {
    const visit = await open('/tables/settings?host=0&search=merge')
    const { page } = visit
    await page.keyboard.press('s')
    const star = page.getByRole('button', { name: 'Star this page', exact: true })
    await waitUntil(async () => (await star.getAttribute('aria-pressed')) === 'true')
    // A page counts as visited after a second.
    await page.waitForFunction(() => localStorage.getItem('recent-pages')?.includes('/tables/settings'))
    await page.goto(`${product.url}/about?host=0`)
    const menu = menuOf(page)
    await menu
      .getByRole('list', { name: 'Starred', exact: true })
      .getByRole('link', { name: 'Settings', exact: true })
      .waitFor()
    await menu.getByRole('button', { name: 'Recent', exact: true }).click()
    await expectVisible(
      menu.getByRole('list', { name: 'Recent', exact: true }).getByRole('link', { name: 'Settings', exact: true }),
    )
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.keyboard.press('Control+k')
    await palette(page).waitFor()
    const results = page.getByRole('listbox', { name: 'Results', exact: true }).getByRole('option')
    await expectVisible(results.first().filter({ hasText: '/tables/settings' }))
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/tables\/settings\?.*search=merge/)
    await star.click()
    await waitUntil(async () => (await menu.getByRole('list', { name: 'Starred', exact: true }).count()) === 0)
  })

  it('ignore stored values of another format', async () => {
    const visit = await browser.visit()
    await visit.page.addInitScript(() => {
      localStorage.setItem('starred-pages', '[{"path":"//evil.example","title":"Evil"},7]')
      localStorage.setItem('recent-pages', '{"broken')
      localStorage.setItem('menu', '["queries"]')
    })
    await visit.page.goto(`${product.url}/about?host=0`)
    await expectVisible(menuOf(visit.page).getByRole('link', { name: 'Slow', exact: true }))
    expect(await menuOf(visit.page).getByText('Starred').count()).toBe(0)
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('the palette', () => {
  /** Opens a page and delays all code that it requests afterwards, until the returned function is called. */
  const openWithDelayedCode = async () => {
    const visit = await open('/about?host=0')
    const { promise, resolve: release } = Promise.withResolvers<void>()
    let held = 0
    await visit.page.route('**/_app/immutable/**/*.js', async (route) => {
      held += 1
      await promise
      await route.continue()
    })
    return { ...visit, release, isHeld: () => held > 0 }
  }

  it('keeps every key that is typed while its code is loading', async () => {
    const { page, release, isHeld } = await openWithDelayedCode()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('slow qerx')
    await page.keyboard.press('Backspace')
    await waitUntil(isHeld)
    await expectVisible(page.getByRole('status').getByText('slow qer', { exact: true }))
    expect(await palette(page).count()).toBe(0)
    release()
    await palette(page).waitFor()
    await page.keyboard.type('ies')
    expect(await palette(page).inputValue()).toBe('slow qeries')
    await expectVisible(page.getByRole('option', { name: /^Slow queries/ }).first())
    // None of the letters was a shortcut.
    expect(page.url()).not.toMatch(/paused|compare/)
  })

  it('runs the command whose Enter came before its code', async () => {
    const { page, release, isHeld } = await openWithDelayedCode()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('failed queries')
    await page.keyboard.press('Enter')
    await waitUntil(isHeld)
    release()
    await page.waitForURL(/\/tables\/failed-queries/)
    await palette(page).waitFor({ state: 'detached' })
  })

  it('is cancelled by Escape while its code is loading, and opens the next time', async () => {
    const { page, release, isHeld } = await openWithDelayedCode()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('slow')
    await waitUntil(isHeld)
    await page.keyboard.press('Escape')
    await page.getByRole('status').getByText('slow', { exact: true }).waitFor({ state: 'detached' })
    release()
    await page.keyboard.press('Control+k')
    await palette(page).waitFor()
    expect(await palette(page).inputValue()).toBe('')
  })

  it('reports code that cannot be loaded, and gives the keys back', async () => {
    const { page } = await open('/about?host=0')
    await page.route('**/_app/immutable/**/*.js', (route) => route.abort())
    await page.keyboard.press('Control+k')
    const alert = page.getByRole('alert').filter({ hasText: 'Failed to load' })
    await expectVisible(alert)
    await alert.getByRole('button', { name: 'Close', exact: true }).click()
    await alert.waitFor({ state: 'detached' })
    await page.keyboard.press('c')
    await page.waitForURL(/compare=1/)
  })

  it('keeps text and Enter while the catalogue is loading, and then opens the page', async () => {
    const { page } = await browser.visit()
    const { promise, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/api/v1/config', async (route) => {
      await promise
      await route.continue()
    })
    await page.goto(`${product.url}/about?host=0`)
    await page.getByRole('button', { name: /Search or run a command/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('detached parts')
    await page.keyboard.press('Enter')
    expect(page.url()).toContain('/about')
    release()
    await page.waitForURL(/\/tables\/detached_parts/)
  })

  it('opens a pasted query id, also one that is pasted while its code is loading', async () => {
    const { page, release, isHeld } = await openWithDelayedCode()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.evaluate(() => navigator.clipboard.writeText(' 3f0c1a52-1111-4222-8333-444455556666\n'))
    await page.keyboard.press('Control+k')
    await page.keyboard.press('Control+v')
    await waitUntil(isHeld)
    release()
    await palette(page).waitFor()
    expect(await palette(page).inputValue()).toBe('3f0c1a52-1111-4222-8333-444455556666')
    await expectVisible(page.getByRole('option', { name: /^Open query 3f0c1a52/ }))
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/queries\/3f0c1a52/)
  })

  it.each([
    ['shop.orders', /^Open table shop\.orders in Explorer|^shop\.orders/, /\/explorer\?.*database=shop.*table=orders/],
    ['12345678901', /^Open fingerprint 12345678901/, /\/fingerprints\/12345678901/],
    ['rnning quer', /^Running queries/, /\/tables\/running-queries/],
    ['theme: dark', /^Theme: dark/, /\/about/],
  ])('opens "%s" with Enter alone', async (typed, option, address) => {
    const { page } = await open('/about?host=0')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(typed)
    await expectVisible(page.getByRole('option').filter({ hasText: option }).first())
    await page.keyboard.press('Enter')
    await page.waitForURL(address)
    await palette(page).waitFor({ state: 'detached' })
    if (typed.startsWith('theme'))
      expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
  })

  it('is a combobox whose active option is announced', async () => {
    const { page } = await open('/about?host=0')
    await page.keyboard.press('Control+k')
    await palette(page).waitFor()
    await page.keyboard.press('ArrowDown')
    const [expanded, list, active] = await palette(page).evaluate((field) =>
      ['aria-expanded', 'aria-controls', 'aria-activedescendant'].map((name) => field.getAttribute(name)),
    )
    expect(expanded).toBe('true')
    expect(await page.locator(`[id="${list}"]`).getAttribute('role')).toBe('listbox')
    const option = page.locator(`[id="${active}"]`)
    expect([await option.getAttribute('aria-selected'), await option.getAttribute('aria-posinset')]).toEqual([
      'true',
      '2',
    ])
  })
})

describe('changes', () => {
  it('list what was changed on the host, by kind and text', async () => {
    await queryClickHouse(one.url, 'CREATE TABLE shop.changed (a UInt8) ENGINE = MergeTree ORDER BY a')
    await queryClickHouse(one.url, 'SYSTEM FLUSH LOGS query_log')
    const visit = await open('/changes?host=0&range=1h')
    const { page } = visit
    const list = page.getByRole('region', { name: 'Changes', exact: true })
    await expectVisible(list.getByText(/CREATE TABLE shop\.changed/).first())
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await list.getByRole('button', { name: /^Alert \d+$/ }).click()
    await page.waitForURL(/kind=Alert/)
    await waitUntil(async () => (await list.getByText(/CREATE TABLE shop\.changed/).count()) === 0)
    await list.getByRole('button', { name: 'Clear filters', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Search changes', exact: true }).fill('shop.changed')
    await page.waitForURL(/search=shop.changed/)
    await expectVisible(list.getByText(/CREATE TABLE shop\.changed/).first())
    expect(visit.consoleErrors).toEqual([])
  })

  it('offer a longer time range when there are none', async () => {
    const { page } = await open('/changes?host=0&from=1700000000&to=1700003600')
    await page.getByRole('button', { name: 'Show last 7 days', exact: true }).click()
    await page.waitForURL(/range=7d/)
  })
})
