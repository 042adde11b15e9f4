// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchJson } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { expectVisible, openBrowser, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { secretPath, startReceiver, type Receiver } from './webhook-receiver.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
let receiver: Receiver
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  receiver = await startReceiver(scope)
  const sandbox = scope.use(await startSeededHost('one'))
  const directory = await mkdtemp(join(tmpdir(), 'alert-pages-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const env = {
    CRON_SECRET: 'secret-of-the-scheduler',
    SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}`,
    SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key that only the operator knows',
    // The receiver listens on loopback. Without this setting, user-supplied addresses must be public.
    SVC_ALLOW_PRIVATE_HOSTS: 'true',
    COLUMNDB_TZ: 'Asia/Kathmandu',
  }
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env }))
  const headers = { authorization: 'Bearer secret-of-the-scheduler' }
  await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, title: string, options = {}): Promise<Visit> =>
  browser.open(`${product.url}${path}?host=0`, options, (page) =>
    page.getByRole('heading', { level: 1, name: title, exact: true }),
  )

/** Opens the dialog of a button and returns its form, which has the name of the dialog. */
const openForm = async (page: Page, button: string, name = button) => {
  await page.getByRole('button', { name: button, exact: true }).click()
  return page.getByRole('form', { name, exact: true })
}
const save = (form: ReturnType<Page['getByRole']>, name = 'Save') =>
  form.getByRole('button', { name, exact: true }).click()

describe('times', () => {
  const between = { from: '1767322800', to: '1767326400' }

  it.each([
    ['the zone of COLUMNDB_TZ', {}, '02 Jan 08:45 – 02 Jan 09:45'],
    ['the zone that the reader chooses', { zone: 'browser' }, '02 Jan 03:00 – 02 Jan 04:00'],
  ])('are shown in %s', async (_which, chosen, words) => {
    const search = new URLSearchParams({ host: '0', ...between, ...chosen })
    const shown = (page: Page) => page.getByRole('button', { name: new RegExp(`^Time range: ${words}`) })
    await browser.open(`${product.url}/overview?${search}`, {}, shown)
  })
})

describe('channels', () => {
  it('are configured, tested and displayed without their secrets', async () => {
    const { page } = await open('/alerts/channels', 'Notification channels')
    const card = page.getByRole('article', { name: 'Webhook', exact: true })
    await expectVisible(card.getByText('Not configured'))
    await card.getByRole('button', { name: 'Set up Webhook', exact: true }).click()
    await card.getByLabel('URL').fill(`${receiver.url}${secretPath}`)
    await card.getByRole('button', { name: 'Save Webhook', exact: true }).click()
    await expectVisible(card.getByText('Ready'))
    await card.getByRole('button', { name: 'Send test to Webhook', exact: true }).click()
    await expectVisible(card.getByText('webhook: delivered'))
    // Notifications of conditions that already fire may arrive too, because a channel is now configured.
    expect(receiver.taken.filter((said) => said.startsWith('TEST'))).toEqual(['TEST: Notifications work'])
    await card.getByRole('button', { name: 'Edit Webhook', exact: true }).click()
    expect(await card.getByLabel('URL').inputValue()).toBe('')
    expect(await page.content()).not.toContain(secretPath)
  })

  it('include additional webhooks, whose URLs are kept when other fields change', async () => {
    const { page } = await open('/alerts/channels', 'Notification channels')
    const form = await openForm(page, 'Add webhook')
    await form.getByLabel('Name').fill('team')
    await form.getByLabel('URL').fill('https://127.0.0.1:1/known-only-here')
    await form.getByLabel('Format').selectOption('slack')
    await form.getByRole('button', { name: 'Add webhook', exact: true }).click()
    await page.getByRole('button', { name: 'Edit team', exact: true }).click()
    const edit = page.getByRole('form', { name: 'Edit team', exact: true })
    expect(await edit.getByLabel('URL').inputValue()).toBe('')
    await edit.getByLabel('Minimum severity').selectOption('critical')
    await edit.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(page.getByText('slack, critical and above'))
    const { body } = await fetchJson(`${product.url}/api/v1/health/webhook-targets`)
    expect(body).toMatchObject({
      data: [{ name: 'team', minSeverity: 'critical', url: expect.stringMatching(/here$/) }],
    })
    expect(await page.content()).not.toContain('known-only')
  })

  it('require the secret again for a URL on another server, and can remove it', async () => {
    const { page } = await open('/alerts/channels', 'Notification channels')
    const card = page.getByRole('article', { name: 'ntfy', exact: true })
    const save = card.getByRole('button', { name: 'Save ntfy', exact: true })
    await card.getByRole('button', { name: 'Set up ntfy', exact: true }).click()
    await card.getByLabel('URL').fill('http://127.0.0.1:9/alerts')
    await card.getByLabel('Token').fill('tk_known_only_here')
    await save.click()
    await save.waitFor({ state: 'detached' })
    await card.getByRole('button', { name: 'Edit ntfy', exact: true }).click()
    await card.getByLabel('URL').fill('http://127.0.0.1:10/alerts')
    await save.click()
    await expectVisible(card.getByRole('alert').getByText(/^Token must be set again or removed/))
    expect(await card.getByLabel('Token', { exact: false }).first().getAttribute('aria-invalid')).toBe('true')
    await card.getByLabel('Remove Token').check()
    await save.click()
    await save.waitFor({ state: 'detached' })
    const { body } = await fetchJson(`${product.url}/api/v1/health/alert-config`)
    const settings = [
      expect.objectContaining({ field: 'url' }),
      expect.objectContaining({ field: 'token', value: null }),
    ]
    expect(body).toMatchObject({
      data: { channels: expect.arrayContaining([expect.objectContaining({ channel: 'push-a', settings })]) },
    })
  })

  it('require the headers of a webhook again for a URL on another server', async () => {
    const { page } = await open('/alerts/channels', 'Notification channels')
    const form = await openForm(page, 'Add webhook')
    await form.getByLabel('Name').fill('with headers')
    await form.getByLabel('URL').fill('https://127.0.0.1:1/hook')
    await form.getByLabel('Headers').fill('Authorization: Bearer known-only-here')
    await form.getByRole('button', { name: 'Add webhook', exact: true }).click()
    await page.getByRole('button', { name: 'Edit with headers', exact: true }).click()
    const edit = page.getByRole('form', { name: 'Edit with headers', exact: true })
    await edit.getByLabel('URL').fill('https://127.0.0.1:2/hook')
    await edit.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(edit.getByRole('alert').getByText(/^headers must be set again or removed/))
    await edit.getByLabel('Headers', { exact: true }).fill('X-Team: storage')
    await edit.getByRole('button', { name: 'Save', exact: true }).click()
    await edit.waitFor({ state: 'detached' })
    const { body } = await fetchJson(`${product.url}/api/v1/health/webhook-targets`)
    const { data } = body as { data: { name: string; headers: string[] }[] }
    expect(data.find(({ name }) => name === 'with headers')?.headers).toEqual(['X-Team'])
    await page.getByRole('button', { name: 'Remove with headers', exact: true }).click()
    await page.getByRole('button', { name: 'Edit with headers', exact: true }).waitFor({ state: 'detached' })
  })

  it('show why a test failed', async () => {
    const { page } = await open('/alerts/channels', 'Notification channels')
    const card = page.getByRole('article', { name: 'Webhook', exact: true })
    await card.getByRole('button', { name: 'Edit Webhook', exact: true }).click()
    await card.getByLabel('URL').fill(`${receiver.url}/elsewhere`)
    await card.getByRole('button', { name: 'Save Webhook', exact: true }).click()
    // The form closes after saving. A test sent earlier would use the old settings.
    await card.getByRole('button', { name: 'Save Webhook', exact: true }).waitFor({ state: 'detached' })
    await card.getByRole('button', { name: 'Send test to Webhook', exact: true }).click()
    await expectVisible(card.getByText(/webhook: rejected/))
  })
})

describe('Slack channels', () => {
  it('can be added if the settings that the page lists are configured', async () => {
    const { page } = await open('/alerts/channels', 'Notification channels')
    const chats = page.getByRole('region', { name: 'Slack app', exact: true })
    await expectVisible(chats.getByText(/Not configured: set CHATAPP_CLIENT_ID, /))
    expect(await chats.getByRole('button', { name: 'Add Slack channel', exact: true }).isDisabled()).toBe(true)
  })
})

describe('rules', () => {
  it('can override thresholds and hysteresis, also for one host, and be reset', async () => {
    const { page } = await open('/alerts/rules', 'Alert rules')
    const form = await openForm(page, 'Edit Disk usage', 'Settings of Disk usage')
    await form.getByLabel('Warning from').fill('many')
    await form.getByLabel('Critical from').fill('60')
    await expectVisible(form.getByRole('alert').getByText('Enter a number'))
    await form.getByLabel('Warning from').fill('71')
    await save(form, 'Save rule')
    await expectVisible(form.getByRole('alert').getByText('Critical (60) must be at least warning (71)'))
    await form.getByLabel('Critical from').fill('')
    await form.getByLabel('Fires after (sweeps)').fill('4')
    await form.getByRole('button', { name: 'Add host or group', exact: true }).click()
    const entry = form.getByRole('group', { name: 'Entry 1', exact: true })
    await entry.getByLabel('Host or group').selectOption('one')
    await entry.getByLabel('Warning').fill('50')
    await entry.getByLabel('Critical').fill('never')
    await save(form, 'Save rule')
    await expectVisible(page.getByText('fires after 4 sweeps; own thresholds: one'))
    // The row shows the thresholds of the selected host.
    const row = page.getByRole('listitem').filter({ hasText: 'own thresholds: one' })
    await expectVisible(row.getByText('warning from 50%'))
    await expectVisible(row.getByText('critical never'))
    const { body } = await fetchJson(`${product.url}/api/v1/health/check-alerts`)
    expect(body).toMatchObject({
      data: [
        { ruleId: 'disk-usage', warning: 71, breaches: 4, hostThresholds: [{ matchHost: 'one', critical: null }] },
      ],
    })
    await openForm(page, 'Edit Disk usage')
    await form.getByLabel('Warning from').fill('')
    await form.getByLabel('Fires after (sweeps)').fill('')
    await form.getByRole('button', { name: 'Remove entry 1', exact: true }).click()
    await save(form, 'Save rule')
    await form.waitFor({ state: 'detached' })
    expect((await fetchJson(`${product.url}/api/v1/health/check-alerts`)).body).toMatchObject({ data: [] })
  })

  it('can be created for a metric after a test', async () => {
    const { page } = await open('/alerts/rules', 'Alert rules')
    const form = await openForm(page, 'Add rule')
    await save(form, 'Add rule')
    await expectVisible(form.getByText('Enter a name'))
    await form.getByLabel('Name').fill('Parts of mine')
    await form.getByLabel('Metric').selectOption('Active parts')
    await form.getByLabel('Warning').fill('0')
    await form.getByRole('button', { name: 'Test', exact: true }).click()
    await expectVisible(form.getByText(/^Current value \d.*: warning/))
    await save(form, 'Add rule')
    const edit = await openForm(page, 'Edit Parts of mine')
    expect(await edit.getByLabel('Warning').inputValue()).toBe('0')
    await edit.getByLabel('Critical').fill('9000')
    await edit.getByLabel('Enabled').uncheck()
    await save(edit)
    await expectVisible(page.getByText('warning > 0, critical > 9,000, disabled'))
    await edit.waitFor({ state: 'detached' })
    const { body } = await fetchJson(`${product.url}/api/v1/health/custom-rules`)
    expect(body).toMatchObject({ data: [{ name: 'Parts of mine', critical: 9_000, enabled: false }] })
  })

  it('can be SQL statements, which are guarded, tested, and fire and recover in sweeps', async () => {
    const { page } = await open('/alerts/rules', 'Alert rules')
    const form = await openForm(page, 'Add SQL rule')
    const write = async (sql: string) => {
      await form.getByRole('textbox', { name: 'SQL statement', exact: true }).fill(sql)
    }
    await form.getByLabel('Name').fill('Numbers of mine')
    await write('DROP TABLE a')
    await form.getByLabel('Warning').first().fill('5')
    await save(form, 'Add SQL rule')
    await expectVisible(form.getByRole('alert').getByText(/^sql: the statement must begin with/))
    await write("SELECT 7, 'numbers'")
    await form.getByLabel('Summary').fill('There are too many numbers.')
    await form.getByRole('button', { name: 'Test', exact: true }).click()
    await expectVisible(form.getByText(/^Current value 7: warning/))
    await expectVisible(form.getByText('Affected: numbers'))
    await save(form, 'Add SQL rule')
    await expectVisible(page.getByText('warning > 5'))
    const headers = { authorization: 'Bearer secret-of-the-scheduler' }
    const sweep = () => fetchJson(`${product.url}/api/cron/health-sweep`, { headers })
    const phases = async () => {
      const { body } = await fetchJson(`${product.url}/api/v1/health/alert-state?hostId=0`)
      const { data } = body as { data: { title: string; phase: string }[] }
      return data.flatMap(({ title, phase }) => (title === 'Numbers of mine' ? [phase] : []))
    }
    await sweep()
    expect(await phases()).toEqual(['firing'])
    const edit = await openForm(page, 'Edit Numbers of mine')
    await edit.getByLabel('Warning').first().fill('9')
    await save(edit)
    await edit.waitFor({ state: 'detached' })
    await sweep()
    await sweep()
    expect((await phases()).filter((phase) => phase === 'firing')).toEqual([])
    const audit = await fetchJson(`${product.url}/api/v1/audit?action=update-sql-rule`)
    expect(audit.body).toMatchObject({ data: [{ result: 'done' }, { result: 'done' }, { result: 'refused' }] })
    await page.getByRole('button', { name: 'Remove Numbers of mine', exact: true }).click()
    await page.getByRole('button', { name: 'Edit Numbers of mine', exact: true }).waitFor({ state: 'detached' })
  })

  it('have general settings, which a dialog changes', async () => {
    const { page } = await open('/alerts/rules', 'Alert rules')
    const form = await openForm(page, 'Edit general settings', 'General settings')
    await form.getByLabel('Recovers after (sweeps)').fill('0')
    await save(form)
    await expectVisible(form.getByRole('alert').getByText('Enter a whole number from 1 to 100'))
    await form.getByLabel('Recovers after (sweeps)').fill('3')
    await save(form)
    await form.waitFor({ state: 'detached' })
    const general = page.getByRole('region', { name: 'General settings', exact: true })
    await expectVisible(general.getByText('3 sweeps'))
    await fetchJson(`${product.url}/api/v1/health/alert-config`, { method: 'DELETE' })
  })
})

describe('quiet hours and routes', () => {
  it('are added, edited in place and removed', async () => {
    const { page } = await open('/alerts/schedule', 'Quiet hours and routes')
    const maintenance = await openForm(page, 'Add maintenance window')
    await maintenance.getByLabel('Reason').fill('the upgrade')
    await maintenance.getByLabel(/^Start/).fill('2020-01-01T00:00')
    await save(maintenance, 'Add maintenance window')
    await expectVisible(maintenance.getByText('The window would already be over'))
    await maintenance.getByLabel(/^Start/).fill('')
    await save(maintenance, 'Add maintenance window')
    await expectVisible(page.getByText(/All hosts: the upgrade/))
    await save(await openForm(page, 'Add quiet hours'), 'Add quiet hours')
    await expectVisible(page.getByText('Mon, Tue, Wed, Thu, Fri, 22:00–07:00 Asia/Kathmandu'))
    const routing = await openForm(page, 'Add route')
    await routing.getByLabel('Target').selectOption('webhook')
    await save(routing, 'Add route')
    await expectVisible(page.getByText('everything → webhook'))
    const window = await openForm(page, 'Edit the upgrade')
    await window.getByLabel('Reason').fill('the other upgrade')
    await window.getByLabel('Duration').selectOption('1 day')
    await window.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(page.getByText(/All hosts: the other upgrade/))
    await page.getByRole('button', { name: /^Edit quiet hours Mon/ }).click()
    const hours = page.getByRole('form', { name: /^Edit quiet hours Mon/ })
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']) await hours.getByLabel(day).uncheck()
    await hours.getByLabel(/^To/).fill('22:00')
    await save(hours, 'Save')
    await expectVisible(hours.getByText('Select at least one day'))
    await expectVisible(hours.getByText('Must differ from the start'))
    for (const day of ['Mon', 'Tue', 'Wed', 'Thu']) await hours.getByLabel(day).check()
    await hours.getByLabel(/^To/).fill('00:00')
    await hours.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(page.getByText('Mon, Tue, Wed, Thu, 22:00–24:00 Asia/Kathmandu'))
    const route = await openForm(page, 'Edit route of everything to webhook')
    await route.getByLabel('Host', { exact: true }).fill('db-*')
    await route.getByLabel('Enabled').uncheck()
    await route.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(page.getByText('host db-* → webhook'))
    for (const name of ['the other upgrade', 'quiet hours Mon', 'route of host db-*'])
      await page.getByRole('button', { name: new RegExp(`^Remove ${name}`) }).click()
    const remove = page.getByRole('button', { name: /^Remove/ }).first()
    await remove.waitFor({ state: 'detached' })
  })
})

describe('insights', () => {
  it('are looked for, and open the statement that they rest on', async () => {
    const { page } = await open('/insights', 'Insights')
    await page.getByRole('button', { name: 'Scan now', exact: true }).click()
    // Waits until the scan has finished, because it reorders the list.
    await expectVisible(page.getByText(/Scan finished: \d+ findings?\./))
    const card = page.getByRole('article', { name: /mutation/ }).first()
    await card.getByRole('button', { name: 'Evidence', exact: true }).click()
    await page.waitForURL(/insight=[0-9a-f]+/)
    await expectVisible(card.getByRole('region', { name: 'Evidence query', exact: true }).getByText('system.mutations'))
    await card.getByRole('link', { name: 'Open in SQL console', exact: true }).click()
    // The console reads the statement from the URL and replaces it with the id of a tab.
    await page.waitForURL(/\/console\?.*tab=/)
    await expectVisible(page.getByRole('textbox', { name: 'SQL statement', exact: true }).getByText('system.mutations'))
  })

  it('have ages of now, also while the page stays open, and are dismissed and restored', async () => {
    const { page } = await open('/insights', 'Insights')
    const card = page.getByRole('article', { name: /mutation/ })
    await expectVisible(card.getByText(/ started (just now|\d+[smh][^.]* ago)\. It had/))
    await page.clock.setFixedTime(Date.now() + 49 * 3_600_000)
    await expectVisible(card.getByText(/ started 2d [^.]*ago\. It had/))
    await card.getByRole('button', { name: 'Dismiss', exact: true }).click()
    await card.waitFor({ state: 'detached' })
    await page.getByLabel('Show dismissed').check()
    await card.getByRole('button', { name: 'Restore', exact: true }).click()
    await expectVisible(card.getByRole('button', { name: 'Dismiss', exact: true }))
  })
})

describe('reports', () => {
  it('are created on request and open as a page', async () => {
    const { page } = await open('/reports', 'Reports')
    await page.getByRole('button', { name: 'Create report', exact: true }).click()
    const link = page.getByRole('link', { name: 'Open', exact: true })
    await expectVisible(link)
    const { status, headers } = await fetchJson(`${product.url}${await link.getAttribute('href')}`)
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  })
})

describe.each([
  ['/alerts/channels', 'Notification channels'],
  ['/alerts/rules', 'Alert rules'],
  ['/alerts/schedule', 'Quiet hours and routes'],
  ['/alerts/deliveries', 'Deliveries'],
  ['/alerts/events', 'Inbound events'],
  ['/insights', 'Insights'],
  ['/reports', 'Reports'],
])('%s', (path, title) => {
  it.each([
    ['light', 1440],
    ['dark', 390],
  ] as const)(
    'has no accessibility violations in the %s theme at %d px',
    { tags: ['long'] },
    async (colorScheme, width) => {
      const visit = await open(path, title, { colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' })
      expect(await findAccessibilityViolations(visit)).toEqual([])
      expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      expect(visit.consoleErrors).toEqual([])
    },
  )
})
