// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'operator-secret-of-the-page-of-keys'
const budget = 30

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSandbox({ label: 'one' }))
  const env = { SVC_API_KEY_SECRET: secret, RATE_LIMIT_MCP_PER_MIN: String(budget) }
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const issueKey = async (label: string, scopes: readonly string[]): Promise<string> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
  const init = { method: 'POST', headers, body: JSON.stringify({ label, scopes }) }
  return (await (await fetch(`${product.url}/api/v1/auth/api-key`, init)).json()).data.apiKey
}

/** Exhausts the rate limit and returns the seconds until the next request is allowed. */
const useUp = async (): Promise<number> => {
  const responses = Array.from({ length: budget + 1 }, () => fetch(`${product.url}/api/mcp`, { method: 'POST' }))
  const waits = (await Promise.all(responses)).map(({ headers }) => Number(headers.get('retry-after') ?? 0))
  return Math.max(...waits)
}

/** Opens a page with a session of an API key with the scopes `read`, `write` and `mcp`. */
const signedIn = async (path: string, options: Parameters<TestBrowser['visit']>[0] = {}): Promise<Visit> => {
  const visit = await browser.visit({ reducedMotion: 'reduce', ...options })
  const key = await issueKey('Ada', ['read', 'write', 'mcp'])
  await visit.page.context().request.post(`${product.url}/api/v1/auth/session`, { data: { key } })
  await visit.page.goto(`${product.url}${path}`)
  return visit
}

describe('the MCP server page', () => {
  it('has client configurations with a shareable URL', async () => {
    const { page } = await signedIn('/mcp?host=0')
    await page.getByRole('link', { name: 'Cursor', exact: true }).click()
    await expectVisible(page.getByRole('region', { name: 'Configuration of Cursor', exact: true }))
    expect(new URL(page.url()).searchParams.get('client')).toBe('cursor')
    const config = JSON.parse(
      await page.getByRole('region', { name: 'Configuration of Cursor', exact: true }).innerText(),
    )
    expect(config.mcpServers.watchhouse).toMatchObject({ url: `${product.url}/api/mcp` })
  })

  it('calls a tool with the session of the user, without a key', async () => {
    const { page } = await signedIn('/mcp?host=0&tool=query')
    const form = page.getByRole('form', { name: 'Call Run a read-only query', exact: true })
    await form.getByLabel('sql').fill('SELECT 6 * 7 AS answer')
    await form.getByRole('button', { name: 'Call query', exact: true }).click()
    await expectVisible(page.getByRole('cell', { name: '42', exact: true }))
  })

  it('explains rejections of an invalid key and of a key of another scope', async () => {
    const visit = await signedIn('/mcp?host=0')
    const { page } = visit
    const list = page.getByRole('button', { name: 'List tools', exact: true })
    await page.getByLabel('API key').fill('svc_made.up')
    await list.click()
    await expectVisible(page.getByText('401: invalid API key'))
    await page.getByLabel('API key').fill(await issueKey('reader', ['read']))
    await list.click()
    await expectVisible(page.getByText('403: missing scope'))
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })

  it.each([1440, 390])('calls a tool with a form generated from its schema, at %d px', async (width) => {
    const visit = await signedIn('/mcp?host=0&tool=query', { viewport: { width, height: 900 } })
    const { page } = visit
    await page.getByLabel('API key').fill(await issueKey('program', ['mcp']))
    await page.getByRole('button', { name: 'List tools', exact: true }).click()
    const form = page.getByRole('form', { name: 'Call Run a read-only query', exact: true })
    await form.getByLabel('sql').fill('SELECT 6 * 7 AS answer')
    await form.getByRole('button', { name: 'Call query', exact: true }).click()
    await expectVisible(page.getByRole('cell', { name: '42', exact: true }))
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await findAccessibilityViolations(visit)).toEqual([])
    }
    await form.getByLabel('sql').fill('DROP TABLE x')
    await form.getByRole('button', { name: 'Call query', exact: true }).click()
    await expectVisible(page.getByText('Tool call failed'))
    await page.getByRole('button', { name: 'List databases list_databases', exact: true }).click()
    await expectVisible(page.getByRole('button', { name: 'Call list_databases', exact: true }))
    expect(new URL(page.url()).searchParams.get('tool')).toBe('list_databases')
    expect(visit.consoleErrors).toEqual([])
  })

  it('explains that the rate limit is exceeded', async () => {
    const { page } = await signedIn('/mcp?host=0')
    await page.getByLabel('API key').fill(await issueKey('hasty', ['mcp']))
    const list = page.getByRole('button', { name: 'List tools', exact: true })
    // Waits if the minute ends soon, because the rate limit resets then.
    await waitUntil(async () => (await useUp()) > 10, 1_000)
    await list.click()
    await expectVisible(page.getByText('429: rate limit exceeded'))
    await expectVisible(page.getByText(/Try again in \d+s/))
  })
})

describe('the API keys page', () => {
  it.each([1440, 390])('lets the operator create and revoke a key that is shown once, at %d px', async (width) => {
    const visit = await browser.visit({ viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    const { page } = visit
    await page.goto(`${product.url}/api-keys`)
    await page.getByLabel('Operator secret').fill('wrong')
    await page.getByRole('button', { name: 'Continue as operator', exact: true }).click()
    await expectVisible(page.getByText('wrong operator secret'))
    await page.getByLabel('Operator secret').fill(secret)
    await page.getByRole('button', { name: 'Continue as operator', exact: true }).click()
    const label = `laptop ${width}`
    await page.getByLabel('Label').fill(label)
    await page.getByLabel('Expires after (days)').fill('7')
    await page.getByRole('button', { name: 'Create key', exact: true }).click()
    const key = await page.getByRole('region', { name: 'API key', exact: true }).innerText()
    const listHosts = () => fetch(`${product.url}/api/v1/hosts`, { headers: { authorization: `Bearer ${key}` } })
    expect((await listHosts()).status).toBe(200)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByRole('button', { name: 'Done', exact: true }).click()
    await waitUntil(async () => (await page.getByText(key).count()) === 0)
    await page.getByRole('button', { name: `Revoke ${label}`, exact: true }).click()
    await page.getByRole('button', { name: 'Revoke key', exact: true }).click()
    await expectVisible(page.getByRole('listitem').filter({ hasText: label }).getByText('Revoked'))
    expect((await listHosts()).status).toBe(401)
  })

  it('shows a signed-in user only their own keys', async () => {
    const { page } = await signedIn('/api-keys')
    await expectVisible(page.getByRole('heading', { name: 'Your keys', exact: true }))
    await expectVisible(page.getByText('Active'))
    expect(await page.getByRole('button', { name: /^Revoke / }).count()).toBe(1)
  })
})
