// @module-tag long
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { type ManagedHost, startManagedHost } from './managed-host.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'operator-secret-of-the-administration'

let product: Product
let host: ManagedHost
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-administration-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const sandbox = scope.use(await startSandbox({ label: 'one' }))
  host = scope.use(await startManagedHost(sandbox.url))
  const env = {
    SVC_API_KEY_SECRET: secret,
    SVC_AUTH_PROVIDER: 'idp',
    IDP_OAUTH_ISSUER: 'https://idp.invalid',
    IDP_SECRET_KEY: 'sk_test_x',
    SVC_FEATURE_WEBHOOK_SUBSCRIPTIONS: 'true',
    CONVERSATIONS_EDGESQL: `file:${join(directory, 'edge.db')}`,
    // The webhook listens on loopback. Without this setting, user-supplied addresses must be public.
    SVC_ALLOW_PRIVATE_HOSTS: 'true',
    SVC_USER_CONNECTIONS_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    COLUMNDB_MANAGEMENT_ENABLED: 'true',
    SVC_DISABLED_FEATURES: 'BILLING',
  }
  product = scope.use(await startProduct({ hosts: [{ url: host.url, name: 'one' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const issueKey = async (label: string, scopes: readonly string[]): Promise<string> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
  const init = { method: 'POST', headers, body: JSON.stringify({ label, scopes }) }
  return (await (await fetch(`${product.url}/api/v1/auth/api-key`, init)).json()).data.apiKey
}

/** Opens a page with a session of an API key with these scopes. */
const open = async (
  path: string,
  options: Parameters<TestBrowser['visit']>[0] = {},
  scopes: readonly string[] = ['write', 'agent', 'mcp'],
): Promise<Visit> => {
  const visit = await browser.visit({ reducedMotion: 'reduce', ...options })
  const key = await issueKey('Ada', scopes)
  await visit.page.context().request.post(`${product.url}/api/v1/auth/session`, { data: { key } })
  await visit.page.goto(`${product.url}${path}`)
  await visit.page.getByRole('heading', { level: 1 }).waitFor()
  await visit.networkIdle()
  return visit
}

describe.each([
  ['/about', 1440],
  ['/audit', 390],
  ['/alerts/webhooks', 390],
  ['/management?view=roles', 390],
  ['/management?view=grants', 1440],
])('%s at %i px', (path, width) => {
  it('has no accessibility violations, in either theme', async () => {
    const visit = await open(path, { colorScheme: 'light', viewport: { width, height: 900 } })
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await visit.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(visit.consoleErrors).toEqual([])
  })
})

describe('the page about the installation', () => {
  it('says what runs, and by which setting something is off', async () => {
    const { page } = await open('/about')
    const { version } = await (await fetch(`${product.url}/api/version`)).json()
    await expectVisible(
      page.getByRole('region', { name: 'Versions', exact: true }).getByText(version, { exact: true }).first(),
    )
    const features = page.getByRole('region', { name: 'Features', exact: true })
    await expectVisible(
      features.getByRole('listitem').filter({ hasText: 'BILLING' }).getByText('SVC_DISABLED_FEATURES'),
    )
    const installation = page.getByRole('region', { name: 'This installation', exact: true })
    await expectVisible(installation.getByRole('link', { name: 'User and grant management', exact: true }))
    await expectVisible(installation.getByText('SVC_FEATURE_USER_CONNECTIONS_DB', { exact: false }))
  })
})

describe('the audit log', () => {
  it('has filters and pages in the URL, and is exported in full', async () => {
    // Each key adds an audit record, so that the log has more than one page.
    for (let count = 0; count < 101; count++) await issueKey(`robot ${count}`, ['read'])
    const { page } = await open('/audit')
    const older = page.getByRole('link', { name: 'Older', exact: true })
    await older.click()
    await expectVisible(page.getByRole('link', { name: 'Newest', exact: true }))
    expect(Number(new URL(page.url()).searchParams.get('before'))).toBeGreaterThan(0)
    await page.getByLabel('Action').fill('revoke-api-key')
    await page.getByLabel('Action').press('Enter')
    await expectVisible(page.getByText('No records match'))
    expect(new URL(page.url()).searchParams.get('action')).toBe('revoke-api-key')
    await page.getByRole('button', { name: 'Clear filters', exact: true }).click()
    await expectVisible(older)
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV', exact: true }).click()
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\r\n')
    expect(lines[0]).toMatch(/^at,kind,subject,action/)
    expect(lines.filter((line) => line.includes('robot'))).toHaveLength(101)
  })

  it('requires write access', async () => {
    const { page } = await open('/audit', {}, ['read'])
    await expectVisible(page.getByText('To read the audit log, you need'))
    expect(await page.getByRole('link', { name: 'Audit log', exact: true }).count()).toBe(0)
  })
})

describe('webhook subscriptions', () => {
  it('are created with a secret that is shown once, tested, disabled and deleted', async () => {
    const visit = await open('/alerts/webhooks')
    const { page } = visit
    const form = page.getByRole('form', { name: 'Add webhook', exact: true })
    await form.getByLabel('Name').fill('pager')
    await form.getByLabel('URL').fill('127.0.0.1:9')
    await form.getByLabel('Rules').fill('')
    // A field is checked when the user leaves it, and all are when the form is submitted.
    await expectVisible(form.getByRole('alert').getByText('Enter a full URL, such as https://example.com/'))
    await form.getByRole('button', { name: 'Add webhook', exact: true }).click()
    await expectVisible(form.getByRole('alert').getByText('Enter a value'))
    await form.getByLabel('URL').fill('https://127.0.0.1:9/a-secret-path')
    await form.getByLabel('Rules').fill('disk-*')
    await form.getByRole('button', { name: 'Add webhook', exact: true }).click()
    const shown = page.getByRole('region', { name: 'Signing secret', exact: true })
    await waitUntil(async () => (await shown.innerText()).startsWith('whsec_'))
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByRole('button', { name: 'Done', exact: true }).click()
    const card = page.getByRole('article', { name: 'pager', exact: true })
    await expectVisible(card.getByText('Ready'))
    expect(await page.content()).not.toMatch(/whsec_|a-secret-path/)
    await card.getByRole('button', { name: 'Send test to pager', exact: true }).click()
    // The delivery fails, because nothing listens at the address.
    await expectVisible(card.getByText(/^pager: failed; will retry/))
    await card.getByRole('button', { name: 'Recent deliveries of pager', exact: true }).click()
    await expectVisible(card.getByText('No deliveries yet'))
    await card.getByRole('button', { name: 'Edit pager', exact: true }).click()
    await card.getByLabel('Hosts').fill('one')
    await card.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(card.getByText('hosts one'))
    await card.getByRole('button', { name: 'Edit pager', exact: true }).click()
    await card.getByLabel('URL').fill('https://127.0.0.1:10/a-secret-path')
    await card.getByRole('button', { name: 'Save', exact: true }).click()
    // A new URL creates a new signing secret.
    await waitUntil(async () => (await shown.innerText()).startsWith('whsec_'))
    await page.getByRole('button', { name: 'Done', exact: true }).click()
    await card.getByRole('button', { name: 'Disable pager', exact: true }).click()
    await expectVisible(card.getByText('Off', { exact: true }))
    await card.getByRole('button', { name: 'Delete pager', exact: true }).click()
    await page.getByRole('button', { name: 'Delete webhook', exact: true }).click()
    await expectVisible(page.getByText('No webhooks yet'))
  })
})

describe('users and grants', () => {
  it('creates a user and shows the statement without the password', async () => {
    const { page } = await open('/management')
    const form = page.getByRole('form', { name: 'Create user', exact: true })
    await form.getByLabel('Name', { exact: true }).fill('grace')
    await form.getByLabel('Password').fill('a long secret')
    await form.getByLabel('Allowed hosts').fill('10.0.0.0/8')
    await form.getByRole('button', { name: 'Create user', exact: true }).click()
    await expectVisible(page.getByText("HOST IP '10.0.0.0/8'").first())
    expect(host.changes.join()).toContain('CREATE USER `grace`')
    expect(`${host.changes.join()} ${await page.content()}`).not.toContain('a long secret')
  })

  it('drops a user after the name is typed, but no user of a configuration file', async () => {
    const { page } = await open('/management')
    expect(await page.getByRole('button', { name: 'Drop default', exact: true }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Drop ann', exact: true }).click()
    const drop = page.getByRole('button', { name: 'Drop user', exact: true })
    expect(await drop.isDisabled()).toBe(true)
    await page.getByLabel('Type ann to confirm').fill('ann')
    await drop.click()
    await expectVisible(page.getByText('Completed on host one.'))
    expect(host.changes).toContain('DROP USER `ann`')
  })

  it('revokes a privilege from a role, and a role from a user', async () => {
    const { page } = await open('/management?view=grants')
    await page.getByRole('button', { name: 'Revoke SELECT on shop.* from reader', exact: true }).click()
    await page.getByLabel('Type reader to confirm').fill('reader')
    await page.getByRole('button', { name: 'Revoke privilege', exact: true }).click()
    await expectVisible(page.getByText('Completed on host one.'))
    expect(host.changes).toContain('REVOKE SELECT ON `shop`.* FROM `reader`')
    await page.getByRole('link', { name: 'Roles', exact: true }).click()
    await page.getByRole('button', { name: 'Revoke reader from ann', exact: true }).click()
    await page.getByLabel('Type ann to confirm').fill('ann')
    await page.getByRole('button', { name: 'Revoke role', exact: true }).click()
    await waitUntil(() => host.changes.includes('REVOKE `reader` FROM `ann`'))
  })

  it('shows the error of the host for a rejected statement', async () => {
    const { page } = await open('/management?view=roles')
    const form = page.getByRole('form', { name: 'Create role', exact: true })
    await form.getByLabel('Name').fill('reader')
    await form.getByRole('button', { name: 'Create role', exact: true }).click()
    await expectVisible(form.getByText('the role "reader" already exists on host one'))
  })
})
