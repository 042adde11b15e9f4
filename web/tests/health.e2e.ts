import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchJson } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { fetchText, curl } from '../../services/sandbox/curl.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'secret-of-the-scheduler'
const token = 'token-of-the-sender'

let kept: Product
let forgetful: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

/** Starts two hosts: one has a dictionary that cannot be loaded, the other is unreachable. */
beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
  await fetchText(
    sandbox.url,
    `CREATE DICTIONARY default.names (id UInt64, name String) PRIMARY KEY id
    SOURCE(CLICKHOUSE(QUERY 'SELECT 1 AS id, throwIf(1) AS name')) LAYOUT(FLAT()) LIFETIME(0)`,
  )
  await curl(sandbox.url, 'SYSTEM RELOAD DICTIONARY default.names')
  const hosts = [
    { url: sandbox.url, name: 'one' },
    { url: 'http://127.0.0.1:1', name: 'gone' },
  ]
  const env = { CRON_SECRET: secret, SVC_EVENTS_INGEST_TOKEN: token }
  const directory = await mkdtemp(join(tmpdir(), 'health-page-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  kept = scope.use(
    await startProduct({ hosts, env: { ...env, SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}` } }),
  )
  forgetful = scope.use(await startProduct({ hosts, env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const sweep = async ({ url }: Product) => {
  const { status } = await fetchJson(`${url}/api/cron/health-sweep`, { headers: { authorization: `Bearer ${secret}` } })
  expect(status).toBe(200)
}

const sendEvents = async ({ url }: Product, instances: readonly string[]) => {
  const alerts = instances.map((instance) => ({
    status: 'firing',
    labels: { alertname: 'DiskFull', severity: 'critical', instance },
    annotations: { summary: 'Disk full' },
    startsAt: '2026-03-01T10:00:00Z',
    endsAt: '0001-01-01T00:00:00Z',
    fingerprint: instance,
  }))
  const { status } = await fetchJson(`${url}/api/events/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ version: '4', status: 'firing', receiver: 'w', alerts }),
  })
  expect(status).toBe(202)
}

const open = async ({ url }: Product, path: string, options = {}): Promise<Visit> => {
  const visit = await browser.visit(options)
  await visit.page.goto(`${url}${path}`)
  await expectVisible(visit.page.getByRole('heading', { level: 1, name: 'Health', exact: true }))
  await expectVisible(visit.page.getByRole('heading', { name: 'Conditions', exact: true }))
  await visit.networkIdle()
  return visit
}

const failed = ({ page }: Visit) => page.getByRole('article', { name: 'Failed dictionaries on one', exact: true })

describe('before the first sweep', () => {
  it('explains how to schedule sweeps, and that no channel is configured', async () => {
    const visit = await open(forgetful, '/health?host=0')
    await expectVisible(visit.page.getByRole('heading', { name: 'No sweep has run yet', exact: true }))
    await expectVisible(visit.page.getByText('/api/cron/health-sweep'))
    await expectVisible(visit.page.getByRole('heading', { name: 'No notification channel is configured', exact: true }))
    await expectVisible(visit.page.getByText('No data yet'))
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})

describe('without a state database', () => {
  it('says why nothing can be acknowledged, and dismisses all the same', async () => {
    await sweep(forgetful)
    const visit = await open(forgetful, '/health?host=0')
    await expectVisible(visit.page.getByText('set SVC_STATE_DB_URL'))
    const acknowledge = failed(visit).getByRole('button', { name: 'Acknowledge', exact: true })
    expect(await acknowledge.isDisabled()).toBe(true)
    const reason = await acknowledge.getAttribute('aria-describedby')
    expect(await visit.page.locator(`#${reason}`).innerText()).toContain('SVC_STATE_DB_URL')
    await failed(visit).getByRole('button', { name: 'Dismiss', exact: true }).click()
    await failed(visit).getByRole('radio', { name: '1 hour', exact: true }).check()
    await failed(visit).getByRole('button', { name: 'Dismiss', exact: true }).last().click()
    await expectVisible(failed(visit).getByText(/^Dismissed until/))
  })
})

describe('conditions', () => {
  beforeAll(() => sweep(kept))

  it('appear on the overview at once, with their start, while the page is loading', async () => {
    const visit = await browser.visit()
    // Timers of two seconds or more never fire, so requests that wait until the page is loaded are never sent.
    await visit.page.addInitScript((longMs) => {
      const wait = globalThis.setTimeout.bind(globalThis)
      Object.assign(globalThis, {
        setTimeout: (then: () => void, ms = 0) => (ms >= longMs ? 0 : wait(then, ms)),
      })
    }, 2_000)
    await visit.page.goto(`${kept.url}/overview?host=0`)
    const said = visit.page.getByRole('region', { name: 'Alert status', exact: true })
    await expectVisible(said.getByText(/, started (just now|\d+[smh].* ago)/))
  })

  it('are sorted by severity, with counts in the banner and the menu', async () => {
    const visit = await open(kept, '/health?hosts=all')
    const { data } = (await fetchJson(`${kept.url}/api/v1/health/alert-state`)).body as { data: { phase: string }[] }
    const firing = data.filter(({ phase }) => phase === 'firing').length
    expect(firing).toBeGreaterThan(1)
    await expectVisible(visit.page.getByRole('status').filter({ hasText: /firing/ }))
    await expectVisible(visit.page.getByRole('status').filter({ hasText: '1 host unreachable' }))
    await expectVisible(
      visit.page
        .getByRole('navigation', { name: 'Pages', exact: true })
        .getByRole('link', { name: new RegExp(`^Alerts ${firing} firing`) }),
    )
    await expectVisible(
      visit.page.getByRole('table', { name: 'Hosts', exact: true }).getByRole('link', { name: 'gone', exact: true }),
    )
    expect(visit.consoleErrors).toEqual([])
  })

  it('show value, limit, age and last notification for one host', async () => {
    const visit = await open(kept, '/health?host=0')
    const card = failed(visit)
    await expectVisible(card.getByText('Warning'))
    await expectVisible(card.getByText('1, limit 1'))
    await expectVisible(card.getByText(/started .*(ago|just now)/))
    await expectVisible(card.getByText('Not sent: alerting is disabled.'))
    expect(await visit.page.getByRole('article', { name: /on gone$/ }).count()).toBe(0)
  })

  it('can be acknowledged with a note by keyboard, and the acknowledgement undone', async () => {
    const visit = await open(kept, '/health?host=0')
    const card = failed(visit)
    const focused = (of: Locator) => waitUntil(() => of.evaluate((element) => element === document.activeElement))
    await card.getByRole('button', { name: 'Acknowledge', exact: true }).press('Enter')
    await focused(card.getByRole('radio', { name: '60 minutes', exact: true }))
    await visit.page.keyboard.press('Escape')
    await focused(card.getByRole('button', { name: 'Acknowledge', expanded: false, exact: true }))
    await visit.page.keyboard.press('Enter')
    await focused(card.getByRole('radio', { name: '60 minutes', exact: true }))
    await visit.page.keyboard.press('ArrowDown')
    await visit.page.keyboard.press('ArrowDown')
    await visit.page.keyboard.press('Tab')
    await visit.page.keyboard.type('the upgrade')
    await visit.page.keyboard.press('Enter')
    await expectVisible(card.getByText(/Acknowledged until it recovers by .*: “the upgrade”/))
    const { data } = (await fetchJson(`${kept.url}/api/v1/health/ack`)).body as { data: unknown[] }
    expect(data).toMatchObject([{ kind: 'ack', ruleId: 'dictionary-failed', note: 'the upgrade', untilMs: null }])
    await card.getByRole('button', { name: /^Undo / }).click()
    await expectVisible(card.getByRole('button', { name: 'Acknowledge', exact: true }))
    expect((await fetchJson(`${kept.url}/api/v1/health/ack`)).body).toMatchObject({ data: [] })
  })

  it('can be dismissed for a duration', async () => {
    const visit = await open(kept, '/health?host=0')
    const card = failed(visit)
    await card.getByRole('button', { name: 'Dismiss', exact: true }).click()
    await card.getByRole('radio', { name: '1 day', exact: true }).check()
    await card.getByRole('button', { name: 'Dismiss', exact: true }).last().click()
    await expectVisible(card.getByText(/^Dismissed until \d\d \w+ \d\d:\d\d/))
    await card.getByRole('button', { name: /^Undo / }).click()
    await expectVisible(card.getByRole('button', { name: 'Dismiss', exact: true }))
  })

  it('have a diagnosis with rows and a runbook, which is in the URL', async () => {
    const visit = await open(kept, '/health?host=0')
    await failed(visit).getByRole('button', { name: 'Diagnose', exact: true }).click()
    await visit.page.waitForURL(/diagnose=0\.dictionary-failed/)
    const dialog = visit.page.getByRole('dialog', { name: 'Failed dictionaries', exact: true })
    await expectVisible(dialog.getByRole('columnheader', { name: 'last success', exact: true }))
    await expectVisible(dialog.getByText('A dictionary that was loaded before keeps its old rows'))
    await visit.networkIdle()
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await visit.page.keyboard.press('Escape')
    await visit.page.waitForURL((url) => !url.searchParams.has('diagnose'))
  })

  it('are listed as checks by category, status and text, with the reason for missing data', async () => {
    const visit = await open(kept, '/health?host=0&status=unknown')
    const checks = visit.page.getByRole('region', { name: 'Checks', exact: true })
    const { data } = (await fetchJson(`${kept.url}/api/v1/health/checks?hostId=0`)).body as {
      data: { status: string; reason: string | null }[]
    }
    const unknown = data.filter(({ status }) => status === 'unknown')
    expect(unknown.length).toBeGreaterThan(0)
    await waitUntil(async () => (await checks.getByRole('listitem').count()) === unknown.length)
    await expectVisible(checks.getByText(unknown[0]?.reason ?? 'no reason').first())
    await checks.getByRole('button', { name: /^All/ }).click()
    await waitUntil(async () => (await checks.getByRole('listitem').count()) === 0)
    for (const category of await checks.locator('summary').all()) await category.click()
    await waitUntil(async () => (await checks.getByRole('listitem').count()) === data.length)
    await visit.page.getByRole('searchbox', { name: /Search conditions/ }).fill('failed dictionaries')
    await visit.page.waitForURL(/search=failed/)
    await waitUntil(async () => (await checks.getByRole('listitem').count()) === 1)
  })

  it('appear in the history, which can be filtered by day and event type', async () => {
    const visit = await open(kept, '/health?host=0')
    const history = visit.page.getByRole('region', { name: 'History', exact: true })
    await expectVisible(history.getByText('Not sent: alerting is disabled').first())
    await history.getByLabel('Day (UTC)').fill('2020-01-01')
    await visit.page.waitForURL(/day=2020-01-01/)
    await expectVisible(history.getByText('No events match'))
    await history.getByRole('button', { name: 'Clear filters', exact: true }).click()
    await history.getByLabel('Event type').selectOption('Recovered')
    await visit.page.waitForURL(/kind=recover/)
    await expectVisible(history.getByText('No events match'))
  })

  it('are shown for all hosts if the URL contains no host', async () => {
    const visit = await open(kept, '/health')
    await expectVisible(visit.page.getByRole('link', { name: 'All hosts', exact: true }))
    await expectVisible(visit.page.getByRole('article', { name: /on gone$/ }))
  })

  it('stay visible and are marked as stale when a refresh fails', async () => {
    const visit = await open(kept, '/health?host=0')
    await visit.page.route('**/api/v1/health/alert-state*', (route) => route.abort())
    await visit.page.getByRole('button', { name: 'Refresh now', exact: true }).click()
    await expectVisible(visit.page.getByText('Stale, from').first())
    await expectVisible(failed(visit))
  })

  it.each([
    ['light', 1440, '/health?host=0'],
    ['dark', 1440, '/health?hosts=all'],
    ['light', 390, '/health?hosts=all'],
    ['dark', 390, '/health?host=0'],
  ] as const)(
    'has no accessibility violations in the %s theme at %d px: %s',
    { tags: ['long'] },
    async (colorScheme, width, path) => {
      const visit = await open(kept, path, {
        colorScheme,
        viewport: { width, height: 900 },
        reducedMotion: 'reduce',
      })
      await visit.page.getByRole('button', { name: 'Acknowledge', exact: true }).first().click()
      expect(await findAccessibilityViolations(visit)).toEqual([])
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    },
  )

  it('cause few requests while the page is idle', async () => {
    const visit = await browser.visit()
    await visit.page.clock.install()
    await visit.page.goto(`${kept.url}/health?host=0`)
    await expectVisible(failed(visit))
    // From here on, the test controls the clock of the page.
    await visit.page.clock.pauseAt((await visit.page.evaluate(() => Date.now())) + 30_000)
    await visit.networkIdle()
    visit.requests.length = 0
    const minutes = 4
    for (let minute = 0; minute < minutes; minute++) {
      await visit.page.clock.runFor(60_000)
      await visit.networkIdle()
    }
    expect(visit.requests.filter((request) => request.endsWith('/alert-state')).length).toBeGreaterThan(2)
    expect(visit.requests.length).toBeLessThanOrEqual(4 * minutes)
  })
})

describe('many unreachable hosts', () => {
  it('are grouped until expanded, and each shows its reason once', async () => {
    const hosts = Array.from({ length: 5 }, (_, index) => ({
      url: `http://127.0.0.1:${index + 1}`,
      name: `gone-${index + 1}`,
    }))
    await using product = await startProduct({ hosts, env: { CRON_SECRET: secret } })
    await sweep(product)
    const visit = await open(product, '/health?hosts=all')
    const { page } = visit
    const line = page.locator('summary').filter({ hasText: 'on 5 hosts' })
    await expectVisible(line.getByText(/^gone-\d, gone-\d, gone-\d and 2 more$/))
    expect(await page.getByRole('article').count()).toBe(0)
    await line.click()
    await expectVisible(page.getByRole('article', { name: /on gone-3$/ }))
    await expect.poll(() => page.getByRole('article').count()).toBe(5)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.goto(`${product.url}/health?host=0`)
    await expectVisible(page.getByText(/^\d+ checks without data: /))
  })
})

describe('conditions of other systems', () => {
  const inboundCard = ({ page }: Visit) =>
    page.getByRole('article', { name: 'Disk full (db-9) from alertmanager', exact: true })
  beforeAll(() => sendEvents(kept, ['db-9']))

  it('can be acknowledged, dismissed and restored like conditions of a host', async () => {
    const visit = await open(kept, '/health?hosts=all')
    const card = inboundCard(visit)
    await waitUntil(async () => {
      await visit.page.getByRole('button', { name: 'Refresh now', exact: true }).click()
      await visit.networkIdle()
      return card.isVisible()
    })
    expect(await card.getByRole('button', { name: 'Diagnose', exact: true }).isDisabled()).toBe(true)
    await card.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await card.getByRole('radio', { name: '4 hours', exact: true }).check()
    await card.getByLabel('Note').fill('looking')
    await card.getByRole('button', { name: 'Acknowledge', exact: true }).last().click()
    await expectVisible(card.getByText(/^Acknowledged until .* by .*: “looking”$/))
    await card.getByRole('button', { name: 'Dismiss', exact: true }).click()
    await card.getByRole('radio', { name: '1 hour', exact: true }).check()
    await card.getByRole('button', { name: 'Dismiss', exact: true }).last().click()
    await expectVisible(card.getByText(/^Dismissed until/))
    await card.getByRole('button', { name: 'Undo acknowledgement', exact: true }).click()
    await expectVisible(card.getByRole('button', { name: 'Acknowledge', exact: true }))
    await card.getByRole('button', { name: 'Undo dismissal', exact: true }).click()
    await expectVisible(card.getByRole('button', { name: 'Dismiss', exact: true }))
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('twenty conditions', () => {
  it('fit on two screens of a laptop, with the hosts and the history', async () => {
    await sendEvents(
      forgetful,
      Array.from({ length: 20 }, (_, index) => `db-${index}`),
    )
    const visit = await open(forgetful, '/health?hosts=all')
    const { page } = visit
    const conditions = page.getByRole('region', { name: 'Conditions', exact: true }).getByRole('article')
    await waitUntil(async () => {
      await page.getByRole('button', { name: 'Refresh now', exact: true }).click()
      await visit.networkIdle()
      return (await conditions.count()) >= 20
    }, 500)
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(2 * 900)
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})
