import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchJson, queryClickHouse } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const webhookSecret = 'secret of the webhook'

let product: Product
let one: Sandbox
let own: Sandbox
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  one = scope.use(await startSeededHost('one'))
  own = scope.use(await startSeededHost('two'))
  product = scope.use(
    await startProduct({
      hosts: [{ url: one.url, name: 'one' }],
      env: { SVC_ALLOW_PRIVATE_HOSTS: 'true', REPO_HOST_WEBHOOK_SECRET: webhookSecret },
    }),
  )
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}): Promise<Visit> =>
  browser.open(`${product.url}${path}`, options, (page) => page.getByRole('heading', { level: 1 }).first())

/** A page with few requests, for tests of features that every page has. */
const anyPage = '/about?host=0'

describe('the command palette', () => {
  const find = async ({ page }: Visit, text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command', exact: true }).waitFor()
    await page.keyboard.type(text)
  }

  it.each([
    ['running quer', 'Running queries', /\/tables\/running-queries/],
    ['topic merges', 'Merges', /\/topics\/merges/],
    ['shop.orders', 'shop.orders', /\/explorer\?.*table=orders/],
    ['last 7 days', 'Last 7 days', /range=7d/],
    ['nightly-report-7', 'Open query with this id', /\/queries\/nightly-report-7/],
  ])('finds "%s" and opens the result with Enter', async (typed, name, address) => {
    const visit = await open(anyPage)
    await find(visit, typed.replace('topic ', ''))
    await visit.page
      .getByRole('option', { name: new RegExp(`^${name}`) })
      .first()
      .waitFor()
    if (typed.startsWith('topic')) await visit.page.getByRole('option', { name: /^Merges Data/ }).click()
    else await visit.page.keyboard.press('Enter')
    await visit.page.waitForURL(address)
    await visit.page
      .getByRole('dialog', { name: 'Search or run a command', exact: true })
      .waitFor({ state: 'detached' })
  })

  it('recognizes a query id', async () => {
    const visit = await open(anyPage)
    await find(visit, '3f0c1a52-1111-4222-8333-444455556666')
    await visit.page.getByRole('option', { name: /^Open query 3f0c1a52/ }).waitFor()
    await visit.page.keyboard.press('Enter')
    await visit.page.waitForURL(/\/queries\/3f0c1a52/)
  })

  it('closes by Escape and has no accessibility violations', async () => {
    const visit = await open(anyPage, { reducedMotion: 'reduce' })
    await find(visit, 'merge')
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await visit.page.keyboard.press('Escape')
    await visit.page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})

describe('a deployment of a newer build', () => {
  /** Simulates the deployment of a new build: old files are missing, and the start page is a new one. */
  const renew = async ({ page }: Visit) => {
    await page.route('**/_app/immutable/nodes/*.js', (route) => route.abort())
    await page.route(
      (url) => url.pathname === '/',
      (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>another build</title>' }),
    )
  }

  const link = ({ page }: Visit) =>
    page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'API keys', exact: true })
  const isOld = ({ page }: Visit) => page.evaluate(() => 'isOld' in window)

  it('continues the navigation in the new build, and reloads only once', async () => {
    const visit = await open(anyPage)
    const { page } = visit
    const documents: string[] = []
    page.on('request', (request) => {
      if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname)
    })
    await page.evaluate(() => Object.assign(window, { isOld: true }))
    await renew(visit)
    // Hovering preloads a missing file, but must not load the newer build.
    const looked = page.waitForEvent('requestfailed', (request) => request.url().includes('/nodes/'))
    await link(visit).hover()
    await looked
    expect(await isOld(visit)).toBe(true)
    await link(visit).click()
    await page.waitForURL(/\/api-keys/)
    await waitUntil(async () => !(await isOld(visit)))
    expect(documents).toEqual(['/api-keys'])
  })
})

describe('settings', () => {
  it('are kept by the browser: units, colours and density hold after a reload', async () => {
    const visit = await open('/tables/part-info?host=0', { reducedMotion: 'reduce' })
    const { page } = visit
    const table = page.getByRole('table', { name: 'Parts', exact: true })
    await expectVisible(table.getByText(/\d KiB/).first())
    await page.getByRole('button', { name: /settings$/ }).click()
    await page.getByRole('button', { name: 'Settings…', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Settings', exact: true })
    await dialog.getByRole('radio', { name: 'kB, MB (1000)', exact: true }).check()
    await dialog.getByRole('radio', { name: 'Colour-blind safe', exact: true }).check()
    await dialog.getByRole('radio', { name: 'Comfortable', exact: true }).check()
    expect(await findAccessibilityViolations(visit)).toEqual([])
    const stored = await page.evaluate(() => localStorage.getItem('preferences'))
    expect(JSON.parse(stored ?? '')).toEqual({ bytes: 'decimal', palette: 'colour-blind', density: 'comfortable' })
    await page.reload()
    await expectVisible(table.getByText(/\d kB/).first())
    expect(await table.getByText(/\d KiB/).count()).toBe(0)
    const { palette, density } = await page.evaluate(() => ({ ...document.documentElement.dataset }))
    expect([palette, density]).toEqual(['colour-blind', 'comfortable'])
  })
})

describe('charts', () => {
  it('draw the time before beneath the present when compared, and say it', async () => {
    const visit = await open('/overview?host=0&range=3h')
    const before = visit.requests.length
    await visit.page.keyboard.press('c')
    await visit.page.waitForURL(/compare=1/)
    await waitUntil(() => visit.requests.length > before)
    await visit.networkIdle()
    await waitUntil(async () => (await visit.page.locator('path[stroke-dasharray="2 3"]').count()) > 3)
  })

  it('are zoomed by keyboard between two instants, and out again', async () => {
    const { page } = await open('/overview?host=0&range=24h')
    const cursor = page.getByRole('slider', { name: 'Time cursor for Memory', exact: true })
    await cursor.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    for (const _ of [1, 2, 3]) await page.keyboard.press('PageDown')
    await expect.poll(() => cursor.getAttribute('aria-valuetext')).toContain('selection started')
    await page.keyboard.press('Enter')
    await page.waitForURL(/from=\d+&to=\d+/)
    const span = () => {
      const { searchParams } = new URL(page.url())
      return Number(searchParams.get('to')) - Number(searchParams.get('from'))
    }
    const zoomed = span()
    expect(zoomed).toBe(5 * 3600)
    await page.getByRole('main').focus()
    await page.keyboard.press('-')
    await waitUntil(() => span() === 2 * zoomed)
  })

  it('give their SQL and their rows', async () => {
    const visit = await open('/overview?host=0')
    const { page } = visit
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Menu for Queries', exact: true }).click()
    await page.getByRole('button', { name: 'Copy as CSV', exact: true }).click()
    await expectVisible(page.getByText('Rows copied to the clipboard.'))
    const [head = '', first = ''] = (await page.evaluate(() => navigator.clipboard.readText())).split('\r\n')
    expect(head).toMatch(/^time,/)
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT/)
    await page.getByRole('button', { name: 'Copy as PNG', exact: true }).click()
    await expectVisible(page.getByText('Image copied to the clipboard.'))
    await page.getByRole('button', { name: 'Show SQL', exact: true }).click()
    await expectVisible(page.getByText(/FROM .*query_log/).first())
  })

  it('mark what changed on the host', async () => {
    await queryClickHouse(one.url, 'CREATE TABLE IF NOT EXISTS shop.marked (a UInt8) ENGINE = MergeTree ORDER BY a')
    await queryClickHouse(one.url, 'SYSTEM FLUSH LOGS query_log')
    const { page } = await open('/charts/host-changes?host=0&range=1h')
    await expectVisible(page.getByRole('figure', { name: /^Changes: .*Schema/ }))
    const values = page.getByRole('region', { name: 'Values of Changes', exact: true })
    await expectVisible(values.getByText(/CREATE TABLE IF NOT EXISTS shop\.marked/).first())
  })

  it('mark deployments that the repository host reported', async () => {
    const body = JSON.stringify({
      action: 'published',
      repository: { id: 7, full_name: 'acme/shop', default_branch: 'main' },
      release: {
        id: 3,
        tag_name: 'v1.2.0',
        html_url: 'https://repository.example/acme/shop/releases/v1.2.0',
        published_at: new Date(Date.now() - 5 * 60_000).toISOString(),
      },
    })
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'release',
      'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
    }
    const { status } = await fetchJson(`${product.url}/api/webhooks/repository`, { method: 'POST', headers, body })
    expect(status).toBe(200)
    const visit = await open('/charts/query-count?host=0&range=1h')
    const { page } = visit
    // The page requests annotations after rendering.
    await waitUntil(() => visit.requests.includes('GET /api/v1/deployments'))
    await visit.networkIdle()
    const cursor = page.getByRole('slider', { name: /^Time cursor for / })
    await cursor.focus()
    await page.keyboard.press('End')
    const announced = async (): Promise<string> => (await cursor.getAttribute('aria-valuetext')) ?? ''
    for (let step = 0; step < 60 && !(await announced()).includes('v1.2.0'); step++)
      await page.keyboard.press('ArrowLeft')
    expect(await announced()).toContain('Release: acme/shop: v1.2.0')
  })
})

describe('analytics', () => {
  const account = 'https://analytics.example'

  /** Opens the page with product analytics configured, and records what it sends. */
  const openMeasured = async () => {
    const visit = await browser.visit({ bypassCSP: true })
    const sent: unknown[] = []
    await visit.page.route(`${account}/**`, async (route) => {
      sent.push(route.request().postDataJSON())
      await route.fulfill({ status: 200, body: '{}', headers: { 'access-control-allow-origin': '*' } })
    })
    await visit.page.route('**/_app/**/*.js', async (route) => {
      const response = await route.fetch()
      const made = {
        CLIENT_ANALYTICS_B_ENABLED: 'true',
        CLIENT_PRODUCT_ANALYTICS_KEY: 'key',
        CLIENT_PRODUCT_ANALYTICS_HOST: account,
      }
      const script = Object.entries(made).reduce(
        (text, [name, value]) => text.replace(new RegExp(`${name}:(?:null|\`[^\`]*\`|"[^"]*")`), `${name}:"${value}"`),
        await response.text(),
      )
      await route.fulfill({ response, body: script })
    })
    await visit.page.goto(`${product.url}/tables/history-queries?host=0`)
    return { ...visit, sent, consent: visit.page.getByRole('region', { name: 'Usage analytics', exact: true }) }
  }

  it('require consent, and send the page pattern without the URL', async () => {
    const { page, sent, consent, networkIdle } = await openMeasured()
    await consent.waitFor()
    await networkIdle()
    expect(sent).toEqual([])
    await consent.getByRole('button', { name: 'Allow', exact: true }).click()
    await waitUntil(() => sent.length > 0)
    expect(sent).toMatchObject([{ api_key: 'key', properties: { $current_url: `${product.url}/tables/[name]` } }])
    await consent.waitFor({ state: 'detached' })
    await page.reload()
    await waitUntil(() => sent.length > 1)
    expect(await consent.count()).toBe(0)
  })

  it('are off after consent is declined, and do not prompt again', async () => {
    const { page, sent, consent, networkIdle } = await openMeasured()
    await consent.getByRole('button', { name: 'Decline', exact: true }).click()
    await consent.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await networkIdle()
    expect([sent, await consent.count()]).toEqual([[], 0])
  })
})

describe('row actions', () => {
  it('require confirmation: a running query is killed, and the page shows it', async () => {
    const id = 'kill-me-from-the-table'
    const sql = 'SELECT sleepEachRow(1) FROM numbers(120) SETTINGS max_block_size = 1'
    const running = fetchJson(`${one.url}/?query_id=${id}`, { method: 'POST', body: sql })
    const visit = await open('/tables/running-queries?host=0')
    const row = visit.page.getByRole('row').filter({ hasText: id })
    await waitUntil(async () => {
      if ((await row.count()) > 0) return true
      await visit.page.getByRole('button', { name: 'Refresh now', exact: true }).click()
      return false
    }, 500)
    await row.getByRole('button', { name: 'Kill', exact: true }).click()
    const dialog = visit.page.getByRole('dialog', { name: `Kill query ${id}?`, exact: true })
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await dialog.getByRole('button', { name: 'Kill', exact: true }).click()
    await expectVisible(dialog.getByText(/^Completed on the host/))
    expect((await running).text).toContain('QUERY_WAS_CANCELLED')
  })
})

describe('the documentation', () => {
  it('begins with its text on a phone, and has the list of texts folded above it', async () => {
    const { page } = await open('/docs', { viewport: { width: 390, height: 844 } })
    const article = page.getByRole('article')
    await expectVisible(article)
    const list = page.getByRole('navigation', { name: 'Documentation', exact: true })
    expect([await list.isVisible(), ((await article.boundingBox())?.y ?? Infinity) < 300]).toEqual([false, true])
    await page.locator('summary', { hasText: 'All pages' }).click()
    await list.getByRole('link', { name: 'Alerts', exact: true }).click()
    await expectVisible(page.getByRole('heading', { name: 'Alerts', level: 1, exact: true }))
    await waitUntil(async () => !(await list.isVisible()))
  })

  it('has the list beside its text where there is room', async () => {
    const { page } = await open('/docs')
    await expectVisible(
      page
        .getByRole('navigation', { name: 'Documentation', exact: true })
        .getByRole('link', { name: 'Alerts', exact: true }),
    )
    expect(await page.locator('summary', { hasText: 'All pages' }).isVisible()).toBe(false)
  })
})

describe('a user connection in the browser', () => {
  it('is tested, added to this browser only, shown and deleted', async () => {
    const { page } = await open('/hosts?host=0')
    await page.getByRole('button', { name: 'Add host…', exact: true }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Add host', exact: true })
    await dialog.getByRole('textbox', { name: /^URL/ }).fill('http://127.0.0.1:9')
    await dialog.getByRole('button', { name: 'Test connection', exact: true }).click()
    await waitUntil(async () => (await dialog.locator('[aria-live] .text-bad').count()) === 1)
    await expectVisible(dialog.getByText(/port 9000 is the native protocol/))
    expect(await dialog.getByRole('radio', { name: /On the server/ }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(own.url)
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('my own')
    await dialog.getByRole('button', { name: 'Add host', exact: true }).click()
    await page.waitForURL(/connection=\d+/)
    await expectVisible(page.getByRole('button', { name: /^Host: my own/ }))
    await page.getByRole('figure', { name: /^Queries, / }).waitFor()
    await page.goto(`${product.url}/hosts?host=0`)
    await page.getByRole('button', { name: 'Edit my own', exact: true }).click()
    const changing = page.getByRole('dialog', { name: 'Edit my own', exact: true })
    await changing.getByRole('textbox', { name: /^Name/ }).fill('still my own')
    await changing.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Delete still my own', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await expectVisible(page.getByText(/^No connections yet\./))
  })

  it('is reported as missing in another browser', async () => {
    const { page } = await open('/overview?host=0')
    await page.goto(`${product.url}/overview?host=0&connection=77`)
    await expectVisible(page.getByText(/stored only in the browser in which it was added/))
  })
})
