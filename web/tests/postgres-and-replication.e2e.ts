// @module-tag long
import { Client } from 'pg'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { describeWith, startPostgres } from '../../services/testing/describe-with.ts'
import { startStubFleet } from '../../services/testing/stub-fleet.ts'
import {
  type SimulatedReplicationService,
  startReplicationService,
} from '../../services/testing/replication-service.ts'
import { expectVisible, openBrowser, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const sectionsOf = (page: Page) => page.getByRole('navigation', { name: 'Sections', exact: true })
const themes = ['light', 'dark'] as const
const statements = [
  'CREATE EXTENSION pg_stat_statements',
  'CREATE SCHEMA shop',
  'CREATE TABLE shop.orders (id int PRIMARY KEY, who text)',
  "INSERT INTO shop.orders SELECT n, 'a user' FROM generate_series(1, 1000) AS n",
  'ANALYZE shop.orders',
  "SELECT pg_create_physical_replication_slot('left_behind', true)",
]

describeWith(['postgres'], 'what is watched beside the hosts', () => {
  let product: Product
  let browser: TestBrowser
  let service: SimulatedReplicationService
  let holder: Client
  const scope = new AsyncDisposableStack()

  beforeAll(async () => {
    const postgres = scope.use(await startPostgres({ preload: ['pg_stat_statements'] }))
    const connect = async (name: string): Promise<Client> => {
      const client = new Client({ connectionString: postgres.url, application_name: name })
      client.on('error', () => {})
      await client.connect()
      scope.defer(() => client.end())
      return client
    }
    holder = await connect('checkout')
    for (const statement of statements) await holder.query(statement)
    await holder.query('BEGIN')
    await holder.query("UPDATE shop.orders SET who = 'ada' WHERE id = 7")
    const waiter = await connect('billing')
    void waiter.query("UPDATE shop.orders SET who = 'grace' WHERE id = 7").catch(() => {})
    service = scope.use(await startReplicationService({ password: 'replication', form: 'web' }))
    const fleet = scope.use(await startStubFleet(1, 20, 3_600_000))
    const env = {
      SVC_POSTGRES_SOURCE_URL: postgres.url,
      REPLDB_API_URL: service.url,
      REPLDB_PASSWORD: 'replication',
      REPLDB_CACHE_TTL_MS: '0',
      REPLDB_FETCH_TIMEOUT_MS: '1000',
    }
    product = scope.use(await startProduct({ hosts: fleet.hosts, env }))
    browser = scope.use(await openBrowser())
  })
  afterAll(() => scope.disposeAsync())

  const open = (path: string, options = {}): Promise<Visit> =>
    browser.open(`${product.url}${path}`, options, sectionsOf)

  it('the menu links to both', async () => {
    const { page } = await open('/postgres?host=0')
    await page.getByRole('link', { name: 'Replication service', exact: true }).first().click()
    await expectVisible(page.getByRole('heading', { level: 1, name: 'Replication', exact: true }))
    await page
      .getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'PostgreSQL', exact: true })
      .click()
    await expectVisible(page.getByText(/PostgreSQL \d+.*database postgres/))
  })

  it('sessions of PostgreSQL are listed with their state, and the section is in the URL', async () => {
    const visit = await open('/postgres?host=0')
    const { page } = visit
    const sessions = page.getByRole('table', { name: 'Sessions', exact: true })
    await expectVisible(sessions.getByRole('row', { name: /idle in transaction.*UPDATE shop.orders/ }))
    await page.getByRole('checkbox', { name: /idle sessions/ }).check()
    await expectVisible(sessions.getByRole('cell', { name: 'checkpointer', exact: true }))
    await sectionsOf(page).getByRole('link', { name: 'Statements', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Search statements', exact: true }).fill('generate_series')
    await expectVisible(page.getByText(/^1 patterns, since/))
    await page.reload()
    await expectVisible(page.getByText(/^1 patterns, since/))
    await page.getByRole('columnheader', { name: 'WAL', exact: true }).getByRole('button').click()
    await page.waitForURL(/order=wal/)
    await sectionsOf(page).getByRole('link', { name: 'Tables', exact: true }).click()
    const orders = page.getByRole('table', { name: 'Tables', exact: true }).getByRole('row', { name: /shop\.orders/ })
    // The age is correct, although the clock of the host is an hour ahead.
    await expectVisible(orders.getByText(/^\s*(just now|\d+s ago|\d+m( \d+s)? ago)\s*$/).first())
    await sectionsOf(page).getByRole('link', { name: 'Replication', exact: true }).click()
    await expectVisible(page.getByRole('table', { name: 'Slots', exact: true }).getByText('left_behind'))
    expect(visit.consoleErrors).toEqual([])
  })

  it('locks of PostgreSQL are listed with their blocker, until none waits', async () => {
    const { page } = await open('/postgres?host=0&section=locks')
    const waiting = page.getByRole('list', { name: /Waiting for \d+/ })
    await expectVisible(page.getByText('blocks 1'))
    await expectVisible(waiting.getByText(/waits for ShareLock/))
    await expectVisible(waiting.getByText("UPDATE shop.orders SET who = 'grace' WHERE id = 7"))
    await holder.query('COMMIT')
    await page.getByRole('button', { name: /Refresh/ }).click()
    await expectVisible(page.getByText('No sessions waiting for a lock'))
  })

  it('mirrors lead to their state, graph and logs', async () => {
    const visit = await open('/repldb?host=0')
    const { page } = visit
    await page
      .getByRole('row', { name: /billing Failed/ })
      .getByRole('link')
      .click()
    await expectVisible(page.getByRole('heading', { level: 1, name: 'billing', exact: true }))
    await expectVisible(page.getByRole('heading', { name: 'Rows written', exact: true }))
    await page.getByRole('link', { name: 'View error log', exact: true }).click()
    await page.waitForURL(/section=logs.*level=error|level=error.*section=logs/)
    await expectVisible(page.getByText('failed to push ? records for batch ?: dial tcp ?: connect: connection refused'))
    await sectionsOf(page).getByRole('link', { name: 'Batches', exact: true }).click()
    await expectVisible(page.getByRole('table', { name: 'Batches', exact: true }))
    await sectionsOf(page).getByRole('link', { name: 'Tables', exact: true }).click()
    await expectVisible(page.getByRole('table', { name: 'Tables', exact: true }))
    await page.goto(`${product.url}/repldb/mirrors/missing?host=0`)
    await expectVisible(page.getByText('Mirror missing not found'))
    expect(visit.consoleErrors).toEqual([])
  })

  it('slots of peers are listed with their history', async () => {
    const { page } = await open('/repldb?host=0&section=peers')
    await expectVisible(page.getByRole('heading', { name: 'Lag of peerflow_slot_billing', exact: true }))
    await page.getByRole('link', { name: 'peerflow_slot_orders', exact: true }).click()
    await expectVisible(page.getByRole('heading', { name: 'Lag of peerflow_slot_orders', exact: true }))
    await page.getByRole('link', { name: /analytics/ }).click()
    await expectVisible(page.getByText(/analytics has no replication slots/))
  })

  const pages = [
    '/postgres?host=0&section=statements',
    '/repldb?host=0&section=peers',
    '/repldb?host=0&section=logs',
    '/repldb/mirrors/events?host=0',
  ]
  it.each(themes)('has no accessibility violations in the %s theme, and fits a phone', async (colorScheme) => {
    const viewport = { width: colorScheme === 'dark' ? 390 : 1440, height: 844 }
    for (const path of pages) {
      const visit = await open(path, { colorScheme, viewport, reducedMotion: 'reduce' })
      expect(await findAccessibilityViolations(visit), path).toEqual([])
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth), path).toBe(viewport.width)
    }
  })

  it.each([
    [401, 'Wrong password', 'REPLDB_PASSWORD'],
    [502, 'Replication service unreachable', 'REPLDB_API_URL'],
  ])('explains the status %d, and recovers when the service is available again', async (status, heading, variable) => {
    service.failing = status
    const { page } = await browser.visit()
    await page.goto(`${product.url}/repldb?host=0`)
    await expectVisible(page.getByText(heading, { exact: true }))
    await expectVisible(page.getByText(variable).first())
    service.failing = undefined
    await page.getByRole('button', { name: 'Check again', exact: true }).click()
    await expectVisible(page.getByRole('table').getByText('billing'))
  })
})
