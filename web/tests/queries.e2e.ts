import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { fetchText } from '../../services/sandbox/curl.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

/** The example statement whose query pattern has the highest total time. */
const slow = 'SELECT count() FROM shop.orders AS a CROSS JOIN shop.customers AS b WHERE a.amount > b.id'

let sandbox: Sandbox
let product: Product
let browser: TestBrowser
let hash: string
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
  hash = await fetchText(sandbox.url, `SELECT toString(normalizedQueryHash('${slow}'))`)
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}): Promise<Visit> => browser.open(`${product.url}${path}`, options)

describe('a user who searches for a slow query', () => {
  it('finds the query and reads its plan within four steps', async () => {
    const { page, consoleErrors } = await open('/overview?host=0&range=24h')
    await page
      .getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'Fingerprints', exact: true })
      .click()
    await page.getByRole('table', { name: 'Query insights', exact: true }).getByRole('link').first().click()
    await expectVisible(page.getByRole('region', { name: 'Statement', exact: true }).getByText('CROSS JOIN'))
    await page.getByRole('table', { name: 'Executions', exact: true }).getByRole('link').first().click()
    await page.getByRole('link', { name: 'Plan and advice', exact: true }).click()
    const tree = page.getByRole('region', { name: 'Query plan as tree', exact: true })
    await expectVisible(tree.getByText('ReadFromMergeTree').first())
    await expectVisible(tree.getByText(/granules/).first())
    await page.getByRole('button', { name: 'Graph', exact: true }).click()
    await expectVisible(
      page.getByRole('region', { name: 'Query plan as graph', exact: true }).getByText('shop.orders').first(),
    )
    await page.waitForURL(/shape=graph/)
    await page.getByRole('button', { name: 'Text', exact: true }).click()
    await expectVisible(page.getByLabel('Query plan as text').getByText('"Node Type"').first())
    expect(consoleErrors).toEqual([])
  })

  it('navigates from a query list by statement, and then to the table that it read', async () => {
    const { page } = await open('/tables/slow-queries?host=0&p.min_duration_s=0')
    await page
      .getByRole('table', { name: 'Slow queries', exact: true })
      .getByRole('link', { name: /shop\.orders/ })
      .first()
      .click()
    const used = page.getByRole('region', { name: 'Details', exact: true })
    await used.getByRole('link', { name: 'shop.orders', exact: true }).click()
    await page.waitForURL(/\/explorer\?host=0&database=shop&table=orders/)
    await expectVisible(page.getByRole('heading', { name: /orders/ }).first())
  })

  it('gets recommendations that the host has verified', async () => {
    const { page } = await open('/fingerprints?host=0&search=note+like')
    await page.getByRole('table', { name: 'Query insights', exact: true }).getByRole('link').first().click()
    const advice = page.getByRole('region', { name: 'Recommendations', exact: true })
    await advice.getByRole('button', { name: 'Get recommendations', exact: true }).click()
    await waitUntil(
      async () =>
        (await advice.getByRole('article').count()) + (await advice.getByText('No recommendations').count()) > 0,
    )
  })
})

describe('a fingerprint', () => {
  it('shows the durations of its executions, and selected executions', async () => {
    const { page } = await open(`/fingerprints/${hash}?host=0&range=3d`)
    const shown = page.getByRole('region', { name: 'Executions', exact: true }).getByRole('status')
    /** Returns the number of executions in a text such as `first 100 of 215` or `12 in the selection`. */
    const executionCount = async () => Number(/(\d+)(?= in the|\s*$)/.exec(await shown.innerText())?.[1])
    await waitUntil(async () => (await executionCount()) > 10)
    const all = await executionCount()
    const map = page.getByRole('figure', { name: /^Durations from/ }).getByRole('presentation')
    const { x, y, width, height } = (await map.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const answering = Promise.withResolvers<void>()
    await page.route(/\/executions\?.*minMs=/, async (route) => {
      await answering.promise
      await route.continue()
    })
    await page.mouse.move(x + width * 0.3, y + height * 0.1)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.6, y + height * 0.6)
    await page.mouse.up()
    await page.waitForURL(/since=\d+.*max=\d+/)
    // While the selected executions are loading, the page must not label the earlier ones as selected.
    await expectVisible(shown.getByText('Loading executions…'))
    answering.resolve()
    await expectVisible(shown.getByText('in the selection'))
    await waitUntil(async () => (await executionCount()) < all)
    await page.getByRole('button', { name: 'Show all', exact: true }).click()
    await page.waitForURL((url) => !url.searchParams.has('since'))
  })

  it('supports selecting executions by touch', async () => {
    const size = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
    const { page } = await open(`/fingerprints/${hash}?host=0&range=3d`, size)
    const map = page.getByRole('figure', { name: /^Durations from/ }).getByRole('presentation')
    await map.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await map.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const protocol = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', part?: number) =>
      protocol.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: part === undefined ? [] : [{ x: x + width * part, y: y + height * (0.3 + part / 20) }],
      })
    await touch('touchStart', 0.2)
    for (const part of [0.3, 0.4, 0.5]) await touch('touchMove', part)
    await touch('touchEnd')
    await page.waitForURL(/since=\d+.*max=\d+/)
    await expectVisible(page.getByText('in the selection'))
  })

  it('supports selecting executions by form, and keeps them in the URL', async () => {
    const visit = await open(`/fingerprints/${hash}?host=0&range=3d`)
    await visit.page.getByLabel('Min duration (ms)').fill('8000')
    await visit.page.getByLabel('Min duration (ms)').press('Enter')
    await visit.page.waitForURL(/min=8000/)
    await visit.page.reload()
    await expectVisible(visit.page.getByText('in the selection'))
    await visit.networkIdle()
    const durations = await visit.page
      .getByRole('table', { name: 'Executions', exact: true })
      .getByRole('row')
      .allInnerTexts()
    expect(durations.length).toBeGreaterThan(1)
    for (const row of durations.slice(1)) expect(Number(/(\d+(?:\.\d+)?) s\b/.exec(row)?.[1])).toBeGreaterThanOrEqual(8)
  })
})

describe('a running query', () => {
  it('is killed from its page after confirmation', async () => {
    const runaway = fetchText(sandbox.url, 'SELECT sum(sleepEachRow(1)) FROM numbers(60) SETTINGS max_block_size = 1', {
      query_id: 'runaway/of a page',
    }).catch((error: unknown) => String(error))
    const path = `/queries/${encodeURIComponent('runaway/of a page')}?host=0`
    await waitUntil(async () => {
      const answer = await fetch(`${product.url}/api/v1${path.replace('?host=', '?hostId=')}`)
      return answer.ok && (await answer.text()).includes('"status":"running"')
    }, 200)
    const { page } = await open(path)
    await expectVisible(page.getByRole('status').filter({ hasText: 'Running' }))
    await page.getByRole('button', { name: 'Kill', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Kill query runaway/of a page?', exact: true })
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
    await expectVisible(page.getByRole('status').filter({ hasText: 'Running' }))
    await page.getByRole('button', { name: 'Kill', exact: true }).click()
    await dialog.getByRole('button', { name: 'Kill', exact: true }).click()
    expect(await runaway).toContain('QUERY_WAS_CANCELLED')
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await waitUntil(async () => {
      await page.getByRole('button', { name: 'Refresh now', exact: true }).click()
      return (await page.getByRole('status').filter({ hasText: 'Failed' }).count()) > 0
    }, 500)
  })

  it('that no longer exists is reported as missing', async () => {
    const { page } = await open('/queries/missing?host=0')
    await expectVisible(page.getByText(/missing/).last())
    await expectVisible(page.getByRole('button', { name: 'Retry', exact: true }).first())
  })
})

describe('explain', () => {
  it('shows what a statement would read, and its errors', async () => {
    const { page } = await open(
      '/explain?host=0&mode=estimate&sql=SELECT+count()+FROM+shop.orders+WHERE+customer_id+%3D+7',
    )
    await expectVisible(page.getByRole('table', { name: 'Estimated reads', exact: true }).getByText('orders'))
    await page.getByRole('button', { name: 'Pipeline', exact: true }).click()
    await expectVisible(
      page
        .getByRole('region', { name: 'Pipeline', exact: true })
        .getByText(/Aggregating/)
        .first(),
    )
    await page.getByLabel('Statement to explain').click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('SELECT nothing FROM shop.orders')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+Enter')
    await expectVisible(page.getByText(/UNKNOWN_IDENTIFIER/).first())
  })
})

// Tests both themes, because colours depend on the theme, and two widths, because the layout depends on the width.
describe.each([
  ['light', 1440],
  ['dark', 390],
] as const)('in the %s theme at %d px', (colorScheme, width) => {
  it.each(['/fingerprints?host=0', '/fingerprints/HASH?host=0', '/explain?host=0&sql=SELECT+1'])(
    '%s has no accessibility violations, and does not scroll sideways',
    { tags: ['long'] },
    async (path) => {
      const visit = await open(path.replace('HASH', hash), {
        colorScheme,
        viewport: { width, height: 900 },
        reducedMotion: 'reduce',
      })
      expect(await findAccessibilityViolations(visit)).toEqual([])
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    },
  )

  it.each(['overview', 'plan', 'events', 'threads'])('one query, %s, has no accessibility violations', async (view) => {
    const id = await fetchText(
      sandbox.url,
      "SELECT query_id FROM system.query_log WHERE type = 'QueryFinish' AND query LIKE '%note 77%' AND query_kind = 'Select' LIMIT 1",
    )
    const visit = await open(`/queries/${id}?host=0&view=${view}`, {
      colorScheme,
      viewport: { width, height: 900 },
      reducedMotion: 'reduce',
    })
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})
