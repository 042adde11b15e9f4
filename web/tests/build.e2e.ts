// @module-tag long
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { copyTree } from '../../services/testing/tree-copy.ts'
import { type Product, startProduct } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

/** Timeout in milliseconds. A build takes a minute on a busy machine. */
const withinMs = 300_000
vi.setConfig({ testTimeout: withinMs, hookTimeout: withinMs })

const variables = {
  CLIENT_TITLE_SHORT: 'Shop',
  CLIENT_LOGO: '/shop.svg',
  CLIENT_AUTOCOMPLETE_LIMIT: '2',
  CLIENT_RUNNING_QUERIES_REFRESH_MS: '1000',
  CLIENT_MEASUREMENT_ID: 'G-SHOP',
  CLIENT_ANALYTICS_A_ENABLED: 'true',
  CLIENT_ANALYTICS_B_ENABLED: 'true',
  SVC_ANALYTICS_KEY: 'shop-key',
  SVC_ANALYTICS_HOST: 'https://analytics.shop.example',
  ENABLE_EDGE_BUILD: 'true',
  DOCS_CONTENT_ROOT: 'shop-docs',
  CLIENT_GIT_SHA: '5a0b0000',
  CLIENT_GIT_REF: 'shop-branch',
  CLIENT_BUILD_TIMESTAMP: '2026-01-02T03:04:05Z',
  CLIENT_CI: 'true',
}

const scope = new AsyncDisposableStack()
let build: string
let product: Product
let browser: TestBrowser
beforeAll(async () => {
  const tree = scope.use(await copyTree(['node_modules', 'web/node_modules']))
  await mkdir(join(tree.path, 'shop-docs'))
  await writeFile(join(tree.path, 'shop-docs/1-shop.md'), '# Shop\n\nHow we sell.\n')
  const vite = join(tree.path, 'node_modules/vite/bin/vite.js')
  const env = { ...process.env, ...variables, NODE_ENV: 'production', VITEST: undefined }
  await promisify(execFile)(process.execPath, [vite, 'build'], { cwd: join(tree.path, 'web'), env })
  build = join(tree.path, 'web/build')
  const sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const readBuilt = (name: string): string => readFileSync(join(build, name), 'utf8')

/** Opens a page of this build. API requests go to the running product. */
const open = async (path: string, prepare?: (visit: Visit) => Promise<unknown>): Promise<Visit> => {
  const visit = await browser.visit()
  const files = new Set(readdirSync(build, { recursive: true, encoding: 'utf8' }))
  await visit.page.route(`${product.url}/**`, (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname.startsWith('/api/')) return route.continue()
    if (pathname === variables.CLIENT_LOGO) return route.fulfill({ contentType: 'image/svg+xml', body: '<svg/>' })
    const file = pathname.slice(1)
    return route.fulfill({ path: join(build, files.has(file) && file !== '' ? file : 'index.html') })
  })
  await prepare?.(visit)
  await visit.page.goto(`${product.url}${path}`)
  await expectVisible(visit.page.getByRole('heading', { level: 1 }))
  return visit
}

/** Opens the overview, consents to analytics, and returns the events that are sent. */
const sentToAnalytics = async () => {
  const sent: { url: string; body: unknown }[] = []
  const visit = await open('/overview?host=0', ({ page }) =>
    page.route(/^https:\/\/(www\.googletagmanager\.com|analytics\.shop\.example|us\.i\.posthog\.com)\//, (route) => {
      sent.push({ url: route.request().url(), body: JSON.parse(route.request().postData() ?? 'null') })
      return route.fulfill({ status: 200, body: '', headers: { 'access-control-allow-origin': '*' } })
    }),
  )
  await visit.page
    .getByRole('region', { name: 'Usage analytics', exact: true })
    .getByRole('button', { name: 'Allow', exact: true })
    .click()
  await waitUntil(() => sent.length === 2)
  return sent.toSorted((one, other) => one.url.localeCompare(other.url))
}

describe('a web build', () => {
  it('CLIENT_TITLE_SHORT ends the titles of tabs', async () => {
    const { page } = await open('/overview?host=0')
    await expect.poll(() => page.title()).toMatch(/ · Shop$/)
  })

  it('CLIENT_LOGO is the picture beside the name of the product', async () => {
    const { page } = await open('/overview?host=0')
    const logo = page.getByRole('link', { name: 'Watchhouse', exact: true }).first().locator('img')
    await expect.poll(() => logo.getAttribute('src')).toBe('/shop.svg')
  })

  it('CLIENT_AUTOCOMPLETE_LIMIT is how many completions the SQL editor shows', async () => {
    const { page } = await open('/console?host=0')
    await page.getByRole('textbox', { name: 'SQL statement', exact: true }).click()
    await page.keyboard.type('SELECT a')
    await expect.poll(() => page.getByRole('listbox').getByRole('option').count()).toBe(2)
  })

  it('CLIENT_RUNNING_QUERIES_REFRESH_MS is the refresh interval of running queries', async () => {
    const visit = await open('/tables/running-queries?host=0', ({ page }) => page.clock.install())
    const requests = () => visit.requests.filter((request) => request === 'GET /api/v1/tables/running-queries').length
    await waitUntil(() => requests() > 0)
    await visit.networkIdle()
    await visit.page.clock.pauseAt(Date.now() + 60_000)
    for (let round = 0; round < 3; round++) {
      await visit.networkIdle()
      const before = requests()
      await visit.page.clock.runFor(1_000)
      await waitUntil(() => requests() > before)
    }
  })

  it('CLIENT_ANALYTICS_A_ENABLED measures for CLIENT_MEASUREMENT_ID, CLIENT_ANALYTICS_B_ENABLED for SVC_ANALYTICS_KEY at SVC_ANALYTICS_HOST', async () => {
    expect(await sentToAnalytics()).toMatchObject([
      { url: 'https://analytics.shop.example/i/v0/e/', body: { api_key: 'shop-key' } },
      { url: 'https://www.googletagmanager.com/gtag/js?id=G-SHOP' },
    ])
  })

  it('ENABLE_EDGE_BUILD leaves files uncompressed, and writes the headers of edge platforms', () => {
    const files = readdirSync(build, { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => /\.(br|gz)$/.test(file))).toEqual([])
    expect(readBuilt('_headers')).toContain('X-Frame-Options: DENY')
  })

  it('DOCS_CONTENT_ROOT is the folder of the documentation', () => {
    expect(JSON.parse(readBuilt('.docs.json'))).toMatchObject([
      { id: 'shop', text: '\nHow we sell.\n' },
      { id: 'settings' },
    ])
  })

  it('CLIENT_GIT_SHA, CLIENT_GIT_REF, CLIENT_BUILD_TIMESTAMP and CLIENT_CI are what the about page says', async () => {
    const facts = JSON.parse(readBuilt('build.json'))
    expect(facts).toMatchObject({ gitSha: '5a0b0000', gitRef: 'shop-branch', builtAt: '2026-01-02T03:04:05Z' })
    // The gateway of the test serves another build, so the response gets the build facts of this one.
    const { page } = await open('/about?host=0', ({ page }) =>
      page.route('**/api/version', async (route) => {
        const response = await route.fetch()
        const { gitSha, gitRef, builtAt } = facts
        return route.fulfill({ response, json: { ...(await response.json()), gitSha, gitRef, builtAt } })
      }),
    )
    const versions = page.getByRole('region', { name: 'Versions', exact: true })
    for (const fact of ['5a0b0000', 'shop-branch', 'CI', /02 Jan/])
      await expectVisible(versions.getByText(fact).first())
    expect(await versions.getByText('This page is outdated').count()).toBe(0)
  })
})
