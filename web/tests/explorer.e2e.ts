// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { queryClickHouse } from '../../services/testing/fetch-json.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let one: Sandbox
let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  one = scope.use(await startSeededHost('one'))
  const two = scope.use(await startSeededHost('two'))
  const hosts = [
    { url: one.url, name: 'one' },
    { url: two.url, name: 'two' },
    { url: 'http://127.0.0.1:1', name: 'gone' },
  ]
  product = scope.use(await startProduct({ hosts }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}): Promise<Visit> => browser.open(`${product.url}${path}`, options)

describe('the explorer', () => {
  it('leads from databases over tables to columns', async () => {
    const { page, consoleErrors } = await open('/explorer?host=0')
    const tree = page.getByRole('navigation', { name: 'Databases and tables', exact: true })
    await tree.getByRole('link', { name: /^shop/ }).click()
    await expectVisible(
      page.getByRole('table', { name: 'Tables', exact: true }).getByRole('link', { name: 'orders', exact: true }),
    )
    await tree.getByRole('link', { name: 'orders', exact: true }).click()
    await page.waitForURL(/database=shop&table=orders/)
    const names = (
      await queryClickHouse(one.url, "SELECT name FROM system.columns WHERE database = 'shop' AND table = 'orders'")
    ).map(({ name }) => String(name))
    const table = page.getByRole('table', { name: 'Columns', exact: true })
    for (const name of names) await expectVisible(table.getByText(name, { exact: true }).first())
    expect(consoleErrors).toEqual([])
  })

  it('finds a table by a part of its name', async () => {
    const { page } = await open('/explorer?host=0&database=shop')
    const tree = page.getByRole('navigation', { name: 'Databases and tables', exact: true })
    await tree.getByLabel('Search databases and tables').fill('custom')
    await waitUntil(async () => (await tree.getByRole('link', { name: 'orders', exact: true }).count()) === 0)
    await expectVisible(tree.getByRole('link', { name: 'customers', exact: true }))
  })

  it('shows DDL, rows, parts, dependencies and usage, each with its own URL', async () => {
    const { page } = await open('/explorer?host=0&database=shop&table=orders&view=ddl')
    const views = page.getByRole('navigation', { name: 'Table views', exact: true })
    await expectVisible(page.getByLabel('CREATE statement text').getByText('CREATE TABLE').first())
    await views.getByRole('link', { name: 'Data', exact: true }).click()
    await expectVisible(
      page
        .getByRole('table', { name: 'Sample rows', exact: true })
        .getByRole('columnheader', { name: 'customer_id', exact: true }),
    )
    await views.getByRole('link', { name: 'Parts', exact: true }).click()
    await expectVisible(
      page
        .getByRole('table', { name: 'Parts', exact: true })
        .getByRole('columnheader', { name: 'On disk', exact: true }),
    )
    await views.getByRole('link', { name: 'Usage', exact: true }).click()
    await expectVisible(page.getByRole('table', { name: 'Latest queries', exact: true }))
    await views.getByRole('link', { name: 'Dependencies', exact: true }).click()
    const graph = page.getByRole('region', { name: 'Dependency graph', exact: true })
    await expectVisible(graph.getByRole('link', { name: /^open_orders/ }))
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
    await graph.getByRole('link', { name: /^open_orders/ }).press('Enter')
    await page.waitForURL(/table=open_orders&view=dependencies/)
  })

  it('suggests similar names for an unknown table', async () => {
    const { page } = await open('/explorer?host=0&database=shop&table=ordrs')
    await expectVisible(page.getByText(/orders/).first())
    await expectVisible(page.getByRole('button', { name: 'Retry', exact: true }).first())
  })
})

describe('cluster topology', () => {
  it('says how a host comes into a cluster when it is in none', async () => {
    const { page, consoleErrors } = await open('/topology?host=0')
    await expectVisible(page.getByText('No clusters'))
    await expectVisible(page.getByText('remote_servers'))
    expect(consoleErrors).toEqual([])
  })

  /** Opens the page with a cluster of two replicas in each shard; the replicas of shard 7 are unavailable. */
  const openCluster = async (shards: number, width = 1440) => {
    const visit = await browser.visit({ viewport: { width, height: 900 } })
    const replica = { slowdowns: 0, forgivenInSeconds: 0, hostId: null, errors: 0, ddlLag: null, recoveringMs: null }
    const cluster = {
      name: 'main',
      shards: Array.from({ length: shards }, (_, index) => ({
        number: index + 1,
        weight: 1,
        internalReplication: true,
        replicas: [1, 2].map((number) => ({
          ...replica,
          number,
          host: `db-${index + 1}-${number}.example`,
          address: '10.0.0.1',
          port: 9_000,
          isLocal: false,
          isActive: index !== 6,
        })),
      })),
    }
    await visit.page.route('**/api/v1/cluster/topology?**', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      await route.fulfill({ response, json: { ...answer, data: { clusters: [cluster], members: [] } } })
    })
    await visit.page.goto(`${product.url}/topology?host=0`)
    await expectVisible(visit.page.getByRole('heading', { level: 1 }))
    await visit.networkIdle()
    return visit
  }

  it('is a graph for a small cluster, and a list for one of 200 hosts that fits on two screens', async () => {
    const small = await openCluster(4)
    await expectVisible(small.page.getByRole('region', { name: 'Graph of cluster main', exact: true }))
    const visit = await openCluster(100)
    const { page } = visit
    const list = page.getByRole('list', { name: 'Cluster main', exact: true })
    await expectVisible(list.getByText('db-100-2.example:9000'))
    expect(await list.getByText(/^db-\d+-\d\.example/).count()).toBe(200)
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(2 * 900)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByRole('button', { name: 'Unhealthy 2', exact: true }).click()
    await waitUntil(async () => (await list.getByText(/^db-\d+-\d\.example/).count()) === 2)
    await page.getByRole('searchbox', { name: 'Search replicas', exact: true }).fill('db-7-2')
    await waitUntil(async () => (await list.getByText(/^db-\d+-\d\.example/).count()) === 1)
    await page.getByRole('button', { name: 'Graph', exact: true }).click()
    await expectVisible(page.getByRole('region', { name: 'Graph of cluster main', exact: true }))
  })

  it('is a list on a phone, which does not scroll sideways', async () => {
    const { page } = await openCluster(100, 390)
    await expectVisible(page.getByRole('list', { name: 'Cluster main', exact: true }).getByText('db-1-1.example:9000'))
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })
})

describe('settings diff', () => {
  it('shows where hosts differ, and names an unreachable host', async () => {
    const { page } = await open('/settings-diff?host=0&hosts=0,1')
    const table = page.getByRole('table', { name: 'Settings by host', exact: true })
    await expectVisible(table.getByRole('rowheader', { name: /^path/ }))
    expect(await table.getByRole('rowheader', { name: 'logger.level', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Changed from the default', exact: true }).click()
    await expectVisible(table.getByRole('rowheader', { name: 'logger.level', exact: true }))
    await page.getByRole('button', { name: 'Add host', exact: true }).click()
    await page.getByRole('option', { name: /gone/ }).click()
    await page.waitForURL(/hosts=0%2C1%2C2|hosts=0,1,2/)
    await expectVisible(page.getByText(/^gone: /))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove two', exact: true }).click()
    await page.waitForURL(/hosts=0%2C2|hosts=0,2/)
  })
})

describe('compare hosts', () => {
  it('links a fingerprint to its page on each host', async () => {
    const { page, consoleErrors } = await open('/compare?host=0&hosts=0,1&range=24h')
    await expectVisible(
      page
        .getByRole('table', { name: 'Key metrics by host', exact: true })
        .getByRole('rowheader', { name: 'Version', exact: true }),
    )
    const table = page.getByRole('table', { name: 'p95 of fingerprints by host', exact: true })
    await expectVisible(table)
    await page.getByRole('combobox', { name: 'Compare by', exact: true }).selectOption('Rows read')
    await page.waitForURL(/by=readRows/)
    await page
      .getByRole('table', { name: 'Rows read of fingerprints by host', exact: true })
      .getByRole('row')
      .nth(1)
      .getByRole('link')
      .last()
      .click()
    await page.waitForURL(/\/fingerprints\/\d+\?.*host=1/)
    await expectVisible(page.getByRole('heading', { level: 1, name: /^Fingerprint \d+/ }))
    expect(consoleErrors).toEqual([])
  })

  it('offers a second host if one exists', async () => {
    const { page } = await open('/compare?host=0&hosts=0')
    await expectVisible(page.getByText('Select at least two hosts'))
  })
})

// Tests both themes, because colours depend on the theme, and two widths, because the layout depends on the width.
describe.each([
  ['light', 1440],
  ['dark', 390],
] as const)('in the %s theme at %d px', (colorScheme, width) => {
  it.each([
    '/explorer?host=0&database=shop&table=orders',
    '/explorer?host=0&database=shop&view=dependencies',
    '/topology?host=0',
    '/settings-diff?host=0&hosts=0,1&scope=changed',
    '/schema-diff?host=0&base=0&target=1',
    '/compare?host=0&hosts=0,1',
  ])('%s has no accessibility violations, and does not scroll sideways', { tags: ['long'] }, async (path) => {
    const visit = await open(path, { colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  })
})
