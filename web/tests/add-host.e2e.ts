// @module-tag long
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Sandbox, startSandbox } from '../../services/sandbox/start.ts'
import { fetchJson, retryUntil } from '../../services/testing/fetch-json.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'the secret of the schedule'
const scope = new AsyncDisposableStack()
let configured: Sandbox
let own: Sandbox
let product: Product
let browser: TestBrowser
let directory: string

beforeAll(async () => {
  configured = scope.use(await startSandbox({ seed: false }))
  own = scope.use(await startSandbox({ seed: false }))
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-add-host-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const env = {
    SVC_DATA_DIRECTORY: directory,
    CRON_SECRET: secret,
    SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
    RATE_LIMIT_BROWSER_CONN_PER_MIN: '1000',
  }
  product = scope.use(await startProduct({ hosts: [{ url: configured.url, name: 'configured' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const passwordOf = (name: string): string => own.users.find(({ user }) => user === name)?.password ?? ''

/** Opens the dialog and returns its elements. */
const openForm = async (page: Page) => {
  await page.getByRole('button', { name: 'Add host…', exact: true }).first().click()
  const form = page.getByRole('dialog', { name: 'Add host', exact: true })
  const field = (name: string) => form.getByRole('textbox', { name: new RegExp(`^${name}`) })
  const press = (name: string) => form.getByRole('button', { name, exact: true }).click()
  await expectVisible(form.getByRole('radio', { name: /^All users/ }))
  return { form, field, press }
}
const rowOf = (page: Page, name: string) =>
  page
    .getByRole('table', { name: 'Hosts', exact: true })
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) })

/** Runs a sweep and returns the number of swept hosts. */
const sweep = async (): Promise<unknown> => {
  const headers = { authorization: `Bearer ${secret}` }
  const { status, text } = await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })
  return [status, /"hosts":(\d+)/.exec(text)?.[1]]
}
const getText = async (path: string): Promise<string> => (await fetchJson(`${product.url}${path}`)).text

const openHosts = (options = {}): Promise<Visit> => browser.open(`${product.url}/hosts?host=0`, options)

describe('adding a host', () => {
  it('leads from a wrong password to a monitored host with its overview', async () => {
    const { page, consoleErrors } = await openHosts()
    const { form, field, press } = await openForm(page)
    await field('URL').fill(own.url)
    await field('User').fill('watchhouse')
    await form.getByLabel('Password').fill('wrong')
    await press('Check connection')
    await expectVisible(form.getByText('rejected the configured user or password'))
    await expectVisible(form.getByText('Check the user and the password', { exact: false }))

    await form.getByLabel('Password').fill(passwordOf('watchhouse'))
    await press('Check connection')
    await expectVisible(form.getByText(/^Connected: ClickHouse \d+/))
    await expectVisible(
      form.getByRole('list', { name: 'Rights of the user', exact: true }).getByText('Read system tables'),
    )

    await form.getByText('Create a database user for Watchhouse').click()
    const script = form.getByRole('region', { name: 'Grants script', exact: true })
    expect(await script.textContent()).toMatch(/SETTINGS readonly = 2;\nGRANT SELECT ON system\.\* TO `watchhouse`/)
    await form.getByRole('checkbox', { name: 'Kill queries from Watchhouse', exact: true }).check()
    expect(await script.textContent()).toContain('GRANT KILL QUERY ON *.*')

    await field('Label').fill('own')
    await field('Group').fill('shop')
    await field('Tags').fill('eu, orders')
    await press('Add host')
    await expectVisible(form.getByText('own is monitored'))
    await expectVisible(form.getByText('Up', { exact: true }))
    await form.getByRole('link', { name: 'Open overview', exact: true }).click()
    await page.waitForURL(/\/overview\?.*host=1/)
    expect(consoleErrors).toEqual([])
  })

  it('makes it a host like a configured one: swept, in the fleet and in the metrics', async () => {
    expect(await sweep()).toEqual([200, '2'])
    expect(await getText('/api/v1/fleet')).toContain('"own"')
    await retryUntil(
      () => getText('/api/v1/metrics'),
      (text) => /watchhouse_host_info\{[^}]*"own"/.test(text) && /clickhouse_\w+\{host="1"/.test(text),
    )
    const { page } = await openHosts()
    await expectVisible(rowOf(page, 'own').getByText('Managed in the UI'))
    await expectVisible(rowOf(page, 'configured').getByText('File or variable'))
    expect(await rowOf(page, 'configured').getByRole('button').count()).toBe(0)
    expect(await getText('/api/v1/audit')).toContain('add-host')
  })

  it('outlives a restart, with secrets that only the owner of the directory can read', async () => {
    await product.query.restart()
    expect(await getText('/api/v1/hosts')).toContain('"own"')
    expect(await sweep()).toEqual([200, '2'])
    for (const name of ['state.db', 'encryption.key'])
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600)
  })

  it('rejects a used label and URL, and saves an unreachable host only after a confirmation', async () => {
    const { page } = await openHosts()
    const { form, field, press } = await openForm(page)
    await field('URL').fill(own.url)
    await field('User').fill('watchhouse')
    await form.getByLabel('Password').fill(passwordOf('watchhouse'))
    await press('Add host')
    await expectVisible(form.getByText('The URL is already monitored as "own"'))
    await field('URL').fill('http://127.0.0.1:1')
    await field('Label').fill('away')
    await press('Add host')
    await expectVisible(form.getByText('nothing listens on its port', { exact: false }))
    expect(await getText('/api/v1/hosts')).not.toContain('"away"')
    await form.getByRole('checkbox', { name: /^Save although the connection fails/ }).check()
    await press('Add host')
    await expectVisible(form.getByText('away is monitored'))
    await expectVisible(form.getByText('Down', { exact: true }))
  })

  it('allows to edit and to remove it', async () => {
    const { page } = await openHosts()
    await page.getByRole('button', { name: 'Edit own', exact: true }).click()
    const edit = page.getByRole('dialog', { name: 'Edit own', exact: true })
    await edit.getByRole('textbox', { name: /^Label/ }).fill('renamed')
    await edit.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(rowOf(page, 'renamed').getByText('shop', { exact: true }))
    await expectVisible(rowOf(page, 'renamed').getByText('Up', { exact: true }))
    await page.getByRole('button', { name: 'Remove away', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await waitUntil(async () => (await rowOf(page, 'away').count()) === 0)
    expect(await sweep()).toEqual([200, '2'])
  })

  it.each([
    ['light', 1440],
    ['dark', 390],
  ] as const)('is accessible, %s at %d px', async (colorScheme, width) => {
    const visit = await openHosts({ colorScheme, viewport: { width, height: 900 } })
    const { form, field, press } = await openForm(visit.page)
    await field('URL').fill(own.url)
    await field('User').fill('watchhouse')
    await form.getByLabel('Password').fill(passwordOf('watchhouse'))
    await press('Check connection')
    await expectVisible(form.getByText(/^Connected: ClickHouse/))
    await form.getByText('Create a database user for Watchhouse').click()
    await expectVisible(form.getByRole('region', { name: 'Grants script', exact: true }))
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    const shots = process.env.TEST_SCREENSHOTS
    if (shots) await visit.page.screenshot({ path: join(shots, `add-host-${colorScheme}-${width}.png`) })
  })
})
