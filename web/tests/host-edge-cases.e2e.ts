// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ConfigResponse } from '../../proto/http/config.ts'
import { HostException, startHostProxy } from '../../services/testing/host-proxy.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSandbox } from '../../services/sandbox/start.ts'
import { fetchText } from '../../services/sandbox/curl.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { startManagedHost } from './managed-host.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const long = 'x'.repeat(60)
const [hostName, database, table] = [`host-of-the-north-${long}`, `warehouse_of_the_north_${long}`, 'Größe_注文_зак']
const named = [
  `CREATE DATABASE ${database}`,
  `CREATE TABLE ${database}.\`${table}\` (\`with a space ${long}\` UInt8) ENGINE = MergeTree ORDER BY tuple()`,
  `INSERT INTO ${database}.\`${table}\` SELECT number FROM numbers(10)`,
]
const managed = [
  `INSERT INTO managed.users (name, storage, auth_type, host_ip) VALUES ('user_${long}', 'local_directory', ['sha256_password'], ['::/0'])`,
  `INSERT INTO managed.roles (name, storage) VALUES ('role_${long}', 'local_directory')`,
  `INSERT INTO managed.role_grants (user_name, granted_role_name) VALUES ('user_${long}', 'role_${long}')`,
  `INSERT INTO managed.grants (role_name, access_type, database, table) VALUES ('role_${long}', 'SELECT', '${database}', '${table}')`,
]

let product: Product
let browser: TestBrowser
let isIll = true
const scope = new AsyncDisposableStack()

const denied = new HostException(
  497,
  "watchhouse: Not enough privileges. To execute this query, it's necessary to have the grant SELECT(event_time) ON system.asynchronous_metric_log. (ACCESS_DENIED)",
)
const slow = new HostException(159, 'Timeout exceeded: elapsed 60003 ms, maximum: 60000 ms. (TIMEOUT_EXCEEDED)')

beforeAll(async () => {
  const engine = scope.use(await startSandbox())
  const host = scope.use(await startManagedHost(engine.url))
  for (const sql of [...named, ...managed]) await fetchText(engine.url, sql)
  const before = scope.use(
    await startHostProxy(host.url, async (body) => {
      if (!isIll) return body
      if (body.includes('asynchronous_metric_log')) return denied
      return body.includes('part_log') ? slow : body
    }),
  )
  const env = { COLUMNDB_MANAGEMENT_ENABLED: 'true' }
  const ahead = scope.use(
    await startHostProxy(host.url, async (body) =>
      body.toString().replace('Milli(now64(3))', 'Milli(now64(3) + INTERVAL 1 HOUR)'),
    ),
  )
  const hosts = [
    { url: before.url, name: hostName },
    { url: ahead.url, name: 'ahead' },
  ]
  product = scope.use(await startProduct({ hosts, env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, width = 1440): Promise<Visit> =>
  browser.open(`${product.url}${path}`, { viewport: { width, height: 2_400 } })

/** Returns pointer targets smaller than 24 pixels, except inline links and elements inside a larger target. */
const smallTargets = ({ page }: Visit): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('main :is(a[href], button, select, summary)')]
      .filter((each) => {
        const { width, height } = each.getBoundingClientRect()
        return width > 2 && height > 2 && (width < 24 || height < 24) && getComputedStyle(each).display !== 'inline'
      })
      .map((each) => each.outerHTML.slice(0, 200)),
  )

describe('a statement that fails', () => {
  it.each(['/overview', '/topics/merges', '/ingestion'])('of %s is shown only on its card', async (path) => {
    isIll = true
    const { page } = await open(`${path}?host=0`)
    const card = page
      .getByRole('group', { name: 'New parts', exact: true })
      .or(page.getByRole('region', { name: 'New parts', exact: true }))
    await expectVisible(card.getByText(/Timeout exceeded/))
    if (path === '/overview') expect(await page.getByText('Failed to load chart').count()).toBe(1)
    isIll = false
    await card.getByRole('button', { name: 'Retry', exact: true }).click()
    await waitUntil(async () => (await card.getByText('Failed to load chart').count()) === 0)
  })

  it('names the missing grant', async () => {
    isIll = true
    const { page } = await open('/storage?host=0')
    await expectVisible(page.getByText(/GRANT SELECT ON system\.asynchronous_metric_log TO/).first())
    // Panels of other tables still show their rows.
    await expectVisible(page.getByRole('table', { name: 'Disk usage by database', exact: true }))
    await expectVisible(page.getByRole('cell', { name: 'system', exact: true }).first())
  })
})

describe('a host whose clock is an hour ahead', () => {
  const hourMs = 3_600_000

  it('shows ages and the previous period by its own clock', async () => {
    await waitUntil(async () => {
      const answer = ConfigResponse.parse(await (await fetch(`${product.url}/api/v1/config`)).json())
      return answer.data.hosts[1]?.clockSkewMs === hourMs
    })
    const changed = (visit: Visit) =>
      visit.page.getByRole('row', { name: table, exact: false }).getByText(/ ago$/).first()
    const right = await open(`/explorer?database=${database}&host=0`)
    await expectVisible(changed(right))
    expect(await changed(right).textContent()).not.toMatch(/\dh/)
    const visit = await open(`/explorer?database=${database}&host=1`)
    await expectVisible(changed(visit))
    // The text may include minutes, because the table was created a few minutes ago.
    expect(await changed(visit).textContent()).toMatch(/^ ?1h( \d+m)? ago$/)

    const { page } = await open('/overview?host=1&range=3h')
    await page.getByRole('button', { name: 'Previous time range', exact: true }).click()
    await waitUntil(() => new URL(page.url()).searchParams.has('to'))
    const toMs = Number(new URL(page.url()).searchParams.get('to')) * 1_000
    expect(Math.abs(toMs - (Date.now() + hourMs - 3 * hourMs))).toBeLessThan(hourMs / 4)
  })
})

describe('long names', () => {
  it.each([
    '/overview',
    '/fleet',
    '/hosts',
    '/health',
    '/storage',
    '/parts',
    '/explorer',
    `/explorer?database=${database}`,
    '/tables/tables-overview',
    '/management',
    '/management?view=roles',
    '/management?view=grants',
    '/settings-diff',
    '/schema-diff',
    '/alerts/rules',
  ])('do not widen the page and are readable in full: %s', async (path) => {
    isIll = true
    const visit = await open(`${path}${path.includes('?') ? '&' : '?'}host=0`, 390)
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    const cut = await visit.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('main *')]
        .filter((each) => each.children.length === 0 && each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 2)
        .filter((each) => getComputedStyle(each).textOverflow === 'ellipsis' && !each.closest('[title], th'))
        .map((each) => each.textContent),
    )
    expect(cut).toEqual([])
    expect(await smallTargets(visit)).toEqual([])
  })

  it('leave all click targets of the console large enough', async () => {
    expect(await smallTargets(await open('/console?host=0', 390))).toEqual([])
  })

  it('cause no accessibility violations', async () => {
    expect(await findAccessibilityViolations(await open('/overview?host=0', 390))).toEqual([])
  })
})
