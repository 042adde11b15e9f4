import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchJson } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'secret-of-the-scheduler'

let product: Product
let hostUrl: string
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
  hostUrl = sandbox.url
  product = scope.use(
    await startProduct({
      hosts: [{ url: sandbox.url, name: 'one' }],
      // Without the cache, a reload shows the changes since the last one.
      env: { CRON_SECRET: secret, HEALTH_ALERT_ENABLED: 'true', SVC_QUERY_CACHE: 'off' },
    }),
  )
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

/** Sends a statement to the host and returns its status. */
const run = async (sql: string): Promise<number> => (await fetch(hostUrl, { method: 'POST', body: sql })).status
const sweep = async () => {
  const headers = { authorization: `Bearer ${secret}` }
  expect((await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })).status).toBe(200)
}

describe('an incident', { tags: ['long'] }, () => {
  it('of a real fault shows its alerts, the change before it and the failed query, and ends with the recovery', async () => {
    await sweep()
    const source = `SOURCE(CLICKHOUSE(QUERY 'SELECT 1 AS id, throwIf(1) AS name'))`
    const create = `CREATE DICTIONARY default.names (id UInt64, name String) PRIMARY KEY id ${source} LAYOUT(FLAT()) LIFETIME(0)`
    expect(await run(create)).toBe(200)
    expect(await run("SELECT dictGet('default.names', 'name', toUInt64(1)) AS of_the_incident")).not.toBe(200)
    expect(await run('SYSTEM FLUSH LOGS')).toBe(200)
    await sweep()
    const visit = await browser.open(`${product.url}/health?host=0`)
    const { page } = visit
    const card = page.getByRole('article', { name: /^Failed dictionaries/ })
    await card.getByRole('link', { name: /^Incident/ }).click()
    await expectVisible(page.getByRole('heading', { level: 1, name: 'Failed dictionaries', exact: true }))
    const status = page.getByRole('region', { name: 'Status', exact: true })
    await expectVisible(status.getByText('Not recovered', { exact: true }))
    await expectVisible(status.getByText('Warning', { exact: true }))
    const timeline = page.getByRole('region', { name: 'Timeline', exact: true })
    await expectVisible(timeline.getByText(/CREATE DICTIONARY/).first())
    await expectVisible(timeline.getByText('Fired', { exact: true }))
    const failed = page.getByRole('region', { name: 'Failed queries', exact: true })
    await expectVisible(failed.getByRole('listitem').filter({ hasText: 'of_the_incident' }).first())
    await page.getByRole('textbox', { name: 'Note (Markdown)', exact: true }).fill('Dropped the dictionary')
    await page.getByRole('button', { name: 'Add note', exact: true }).click()
    await expectVisible(timeline.getByText('Dropped the dictionary'))
    expect(await run('DROP DICTIONARY default.names')).toBe(200)
    expect(await run('SYSTEM FLUSH LOGS')).toBe(200)
    await sweep()
    await sweep()
    await page.reload()
    await expectVisible(status.getByText('Recovered', { exact: true }))
    await expectVisible(timeline.getByText('Recovered', { exact: true }))
    await expectVisible(timeline.getByText(/DROP DICTIONARY/).first())
    await expectVisible(failed.getByRole('listitem').filter({ hasText: 'of_the_incident' }).first())
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as Markdown', exact: true }).click(),
    ])
    const text = await readFile(await file.path(), 'utf8')
    const order = [
      '# Failed dictionaries',
      '- Severity: warning',
      'CREATE DICTIONARY',
      '**Fired**',
      'DROP DICTIONARY',
      '**Recovered**',
      'Failed: ',
    ].map((part) => text.indexOf(part))
    expect(order).toEqual(order.toSorted((one, other) => one - other))
    expect(order).not.toContain(-1)
    expect(text).toMatch(/^- End: \d/m)
    // The log of the host has seconds, so the note may stand after the change of the same second.
    expect(text).toContain('**Note** by anonymous: Dropped the dictionary')
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(visit.consoleErrors).toEqual([])
  })

  it('has notes of users and the queries of its time, and is exported as Markdown', async () => {
    const since = Date.now() - 3_600_000
    const visit = await browser.open(`${product.url}/incidents/e1?host=0&since=${since}`)
    const { page } = visit
    await page.getByRole('textbox', { name: 'Note (Markdown)', exact: true }).fill('Restarted **one** <b>now</b>')
    await page.getByRole('button', { name: 'Add note', exact: true }).click()
    const timeline = page.getByRole('region', { name: 'Timeline', exact: true })
    await expectVisible(timeline.getByText('Note by anonymous', { exact: true }))
    await expectVisible(timeline.getByText('<b>').first())
    await expectVisible(
      page.getByRole('region', { name: 'Longest queries', exact: true }).getByRole('listitem').first(),
    )
    expect(await findAccessibilityViolations(visit)).toEqual([])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as Markdown', exact: true }).click(),
    ])
    const text = await readFile(await file.path(), 'utf8')
    expect(text).toContain(String.raw`**Note** by anonymous: Restarted \*\*one\*\* \<b\>now\</b\>`)
    expect(text).toContain('## Affected queries')
    await page.getByRole('button', { name: 'Delete note', exact: true }).click()
    await waitUntil(async () => (await timeline.getByText('Note by anonymous', { exact: true }).count()) === 0)
    expect(visit.consoleErrors).toEqual([])
  })
})
