import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { expectVisible, openBrowser, type TestBrowser } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'operator-secret-of-the-sign-in-page'
/** The product needs a host, but these tests only read its name. Nothing listens at this address. */
const hosts = [{ url: 'http://127.0.0.1:9', name: 'silent' }]

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  product = scope.use(await startProduct({ hosts, env: { SVC_API_KEY_SECRET: secret } }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const issueKey = async (): Promise<{ apiKey: string; id: string }> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
  const init = { method: 'POST', headers, body: JSON.stringify({ label: 'Ada' }) }
  return (await (await fetch(`${product.url}/api/v1/auth/api-key`, init)).json()).data
}
const endKey = (id: string) =>
  fetch(`${product.url}/api/v1/auth/api-keys/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${secret}` },
  })

/** Returns the button of the account menu. */
const account = (page: Page) => page.getByRole('button', { name: 'Ada: account and settings', exact: true })

describe('an installation with API keys', () => {
  it.each([1440, 390])('signs in with a key at %d px, returns to the requested page, and signs out', async (width) => {
    const { apiKey } = await issueKey()
    const visit = await browser.visit({ viewport: { width, height: 900 } })
    const { page } = visit
    await page.goto(`${product.url}/hosts?host=0`)
    await expectVisible(page.getByRole('heading', { name: 'Sign in', exact: true }))
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByLabel('API key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in with API key', exact: true }).click()
    await expectVisible(page.getByRole('heading', { name: 'Hosts', exact: true }))
    expect(new URL(page.url()).pathname).toBe('/hosts')
    await expectVisible(account(page))
    await expectVisible(page.getByText('silent').first())
    expect(await page.evaluate(() => document.cookie)).toBe('')
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await account(page).click()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await expectVisible(page.getByRole('heading', { name: 'Sign in', exact: true }))
    expect(await page.context().cookies()).toEqual([])
  })

  it('leads an administrator from the sign-in page to the first key, and signs in with it', async () => {
    const visit = await browser.visit()
    const { page } = visit
    await page.goto(product.url)
    await page.getByRole('link', { name: 'Create the first API key', exact: true }).click()
    await page.getByLabel('Operator secret').fill(secret)
    await page.getByRole('button', { name: 'Continue as operator', exact: true }).click()
    await page.getByLabel('Label').fill('Ada')
    await page.getByRole('button', { name: 'Create key', exact: true }).click()
    await expectVisible(page.getByText('Copy it now; it is not shown again.'))
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByRole('button', { name: 'Sign in with this key', exact: true }).click()
    await expectVisible(account(page))
  })

  it('shows why a key is invalid and accepts another', async () => {
    const { page } = await browser.visit()
    await page.goto(product.url)
    await page.getByLabel('API key').fill('svc_made.up')
    const send = page.getByRole('button', { name: 'Sign in with API key', exact: true })
    await send.click()
    await expectVisible(page.getByRole('alert'))
    await page.getByLabel('API key').fill((await issueKey()).apiKey)
    await send.click()
    await expectVisible(account(page))
  })

  it('requires a new sign-in when the key is revoked while a page is open', async () => {
    const { apiKey, id } = await issueKey()
    const { page, networkIdle } = await browser.visit()
    await page.goto(`${product.url}/overview`)
    await page.getByLabel('API key').fill(apiKey)
    await page.getByRole('button', { name: 'Sign in with API key', exact: true }).click()
    await expectVisible(account(page))
    // A request that is sent later would show the sign-in page before the click.
    await expectVisible(page.getByRole('link', { name: /^Finish the setup/ }))
    await networkIdle()
    await endKey(id)
    await page
      .getByRole('button', { name: /refresh/i })
      .first()
      .click()
    await expectVisible(page.getByRole('heading', { name: 'Sign in', exact: true }))
  })
})
