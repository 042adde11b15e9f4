// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { type Sandbox, startSandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'operator-secret-of-the-hosts-that-people-keep'
const longName = `the cluster of the warehouse in the north, also known as ${'n'.repeat(30)}`

let engine: Sandbox
let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  engine = scope.use(await startSandbox())
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-own-hosts-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const env = {
    SVC_API_KEY_SECRET: secret,
    SVC_ALLOW_PRIVATE_HOSTS: 'true',
    SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
    SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a key that only the operator knows',
    SVC_STATE_DB_URL: `file:${directory}/state.db`,
    RATE_LIMIT_BROWSER_CONN_PER_MIN: '1000',
  }
  product = scope.use(await startProduct({ hosts: [{ url: engine.url, name: 'watched' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const keyOf = async (label: string): Promise<string> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
  const init = { method: 'POST', headers, body: JSON.stringify({ label }) }
  return (await (await fetch(`${product.url}/api/v1/auth/api-key`, init)).json()).data.apiKey
}

const signedIn = async (key: string, path: string, width = 1440): Promise<Visit> => {
  const visit = await browser.visit({ viewport: { width, height: 900 } })
  await visit.page.goto(`${product.url}${path}`)
  await visit.page.getByLabel('API key').fill(key)
  await visit.page.getByRole('button', { name: 'Sign in with API key', exact: true }).click()
  return visit
}

const addForm = async (page: Page) => {
  await page.getByRole('button', { name: 'Add host…', exact: true }).first().click()
  const form = page.getByRole('dialog', { name: 'Add host', exact: true })
  await form.getByRole('radio', { name: /^Only me/ }).check()
  const field = (name: string) => form.getByRole('textbox', { name: new RegExp(`^${name}`) })
  return { form, field, outcome: form.locator('[aria-live]') }
}

/** Adds a host that is stored on the server, and returns its id. */
const keep = async (page: Page, name: string): Promise<number> => {
  const { form, field } = await addForm(page)
  await field('URL').fill(engine.url)
  await field('Name').fill(name)
  await form.getByRole('radio', { name: /On the server/ }).check()
  await form.getByRole('button', { name: 'Add host', exact: true }).click()
  await page.waitForURL(/\/overview\?.*host=-\d+/)
  return Number(new URL(page.url()).searchParams.get('host'))
}

describe('a user connection stored on the server', () => {
  it('is rejected with the reason, until the form is changed', async () => {
    const { page } = await signedIn(await keyOf('Ada'), '/hosts?host=0')
    const { form, field, outcome } = await addForm(page)
    const said = async (url: string, words: RegExp) => {
      await field('URL').fill(url)
      await waitUntil(async () => (await outcome.innerText()) === '')
      await form.getByRole('button', { name: 'Test connection', exact: true }).click()
      await waitUntil(async () => words.test(await outcome.innerText()))
    }
    await said('http://127.0.0.1:9', /cannot be reached[^]*8123/)
    await said(engine.url.replace('http:', 'https:'), /cannot be reached[^]*without TLS/)
    await said(product.url, /not a ClickHouse server[^]*Check the port/)
    await said('http://missing.invalid:8123', /^The URL has a host name that does not resolve/)
    await said('ftp://127.0.0.1', /^The URL must begin with http/)
    await field('User').fill('watchhouse')
    await field('Password').fill('wrong')
    await said(engine.url, /rejected[^]*Check the user and the password/)
    await page.keyboard.press('Escape')
    const again = await addForm(page)
    expect([await again.outcome.innerText(), await again.field('URL').inputValue()]).toEqual(['', ''])
  })

  it('is added, renamed, moved to another URL and deleted', async () => {
    const visit = await signedIn(await keyOf('Ada'), '/hosts?host=0', 390)
    const { page } = visit
    await keep(page, longName)
    const switcher = page.getByRole('button', { name: `Host: ${longName}. Switch host`, exact: true })
    await expectVisible(switcher)
    await page.goto(`${product.url}/hosts?host=0`)
    const change = async (name: string) => {
      await page.getByRole('button', { name: `Edit ${name}`, exact: true }).click()
      return page.getByRole('dialog', { name: `Edit ${name}`, exact: true })
    }
    const renaming = await change(longName)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await renaming.getByRole('textbox', { name: /^Name/ }).fill('mine')
    await renaming.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(page.getByRole('link', { name: 'mine', exact: true }))

    const moving = await change('mine')
    await moving.getByRole('checkbox', { name: /^Change URL/ }).check()
    await moving.getByRole('textbox', { name: /^URL/ }).fill(engine.url)
    await moving.getByRole('textbox', { name: /^User/ }).fill('watchhouse')
    await moving.getByRole('textbox', { name: /^Password/ }).fill('wrong')
    await moving.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(moving.getByText(/rejected/))
    await moving.getByRole('textbox', { name: /^Password/ }).fill('watchhouse')
    await moving.getByRole('button', { name: 'Save', exact: true }).click()
    await waitUntil(async () => !(await moving.isVisible()))
    await page.getByRole('link', { name: 'mine', exact: true }).click()
    await page.waitForURL('**/overview?*')
    await page.goto(page.url().replace('/overview', '/console'))
    await page.getByRole('textbox', { name: 'SQL statement', exact: true }).fill('SELECT currentUser() AS me')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await expectVisible(page.getByRole('cell', { name: 'watchhouse', exact: true }))

    await page.goto(page.url().replace('/console', '/hosts'))
    await page.getByRole('button', { name: 'Delete mine', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await expectVisible(page.getByText(/^No connections yet\./))
    // After the deletion, the page switches to a configured host.
    await expectVisible(page.getByRole('button', { name: /^Host: watched/ }))
  })

  it('is available after the next sign-in, and only for its owner', async () => {
    const [ada, bob] = [await keyOf('Ada'), await keyOf('Bob')]
    const { page } = await signedIn(ada, '/hosts?host=0')
    const hostId = await keep(page, 'Ada’s own')
    await page.getByRole('button', { name: 'Ada: account and settings', exact: true }).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await expectVisible(page.getByRole('heading', { name: 'Sign in', exact: true }))
    const others = await signedIn(bob, `/overview?host=${hostId}`)
    await expectVisible(others.page.getByText(/points to a personal connection/))
    expect(await others.page.getByText('Ada’s own').count()).toBe(0)
    const back = await signedIn(ada, '/hosts?host=0')
    await expectVisible(back.page.getByRole('link', { name: 'Ada’s own', exact: true }))
  })

  it('shows no health state where it is not monitored', async () => {
    const visit = await signedIn(await keyOf('Ada'), '/hosts?host=0')
    const { page } = visit
    const hostId = await keep(page, 'looked at')
    for (const path of ['/health', '/alerts/rules', '/insights', '/reports']) {
      await page.goto(`${product.url}${path}?host=${hostId}`)
      await expectVisible(page.getByText('looked at is not monitored'))
      await visit.networkIdle()
      expect(await page.getByText('Failed to load data').count(), path).toBe(0)
      expect(visit.consoleErrors, path).toEqual([])
      await page.getByRole('main').getByRole('link', { name: 'watched', exact: true }).click()
      await page.waitForURL(`**${path}?*host=0*`)
    }
  })
})
