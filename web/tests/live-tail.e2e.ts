import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { fetchText } from '../../services/sandbox/curl.ts'
import { startSandbox, type Sandbox } from '../../services/sandbox/start.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let sandbox: Sandbox
let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  sandbox = scope.use(await startSandbox())
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const run = async (sql: string): Promise<void> => {
  await fetchText(sandbox.url, sql).catch(() => undefined)
  await fetchText(sandbox.url, 'SYSTEM FLUSH LOGS')
}
const lines = (page: Page, text: string) => page.getByRole('log').locator('details').filter({ hasText: text })

it('shows new queries once, with filter, highlight and pause', async () => {
  const { page, consoleErrors } = await browser.open(`${product.url}/live-tail?host=0`)
  await run("SELECT 'first of the tail'")
  await expect.poll(() => lines(page, 'first of the tail').count()).toBe(2)
  await run("SELECT throwIf(number = 3, 'second of the tail') FROM numbers(5)")
  await expectVisible(lines(page, 'second of the tail').getByText('Failed', { exact: true }))
  expect(await lines(page, 'first of the tail').count()).toBe(2)

  await page.getByLabel('Highlight', { exact: true }).fill('FIRST OF')
  await expectVisible(page.getByRole('log').locator('mark').first())
  expect(await page.getByRole('log').locator('mark').first().innerText()).toBe('first of')

  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await expectVisible(page.getByRole('status').filter({ hasText: 'Paused' }))
  await run("SELECT 'third of the tail'")
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await expect.poll(() => lines(page, 'third of the tail').count()).toBe(2)
  expect(await lines(page, 'first of the tail').count()).toBe(2)

  await page.getByLabel('Event', { exact: true }).selectOption({ label: 'Failed' })
  await page.waitForURL(/type=Exception/)
  await expectVisible(lines(page, 'second of the tail'))
  expect(await lines(page, 'third of the tail').count()).toBe(0)
  await lines(page, 'second of the tail').locator('summary').click()
  await page
    .getByRole('log')
    .getByRole('link', { name: /^Query / })
    .click()
  await expectVisible(page.getByRole('region', { name: 'Failure', exact: true }))
  expect(consoleErrors).toEqual([])
})

it('sends no request while its tab is hidden', async () => {
  const visit = await browser.visit()
  const { page } = visit
  await page.clock.install()
  await page.goto(`${product.url}/live-tail?host=0`)
  const reads = () => visit.requests.filter((request) => request.includes('/tables/recent-queries')).length
  await waitUntil(() => reads() > 0)
  const setVisibility = (state: 'hidden' | 'visible') =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  await setVisibility('hidden')
  await visit.networkIdle()
  const before = reads()
  await page.clock.fastForward(120_000)
  await visit.networkIdle()
  expect(reads()).toBe(before)
  await setVisibility('visible')
  await waitUntil(() => reads() > before)
})

it('follows the server log, or says why it cannot', async () => {
  const { page } = await browser.open(`${product.url}/live-tail?host=0&log=server`)
  const [exists] = (await fetchText(sandbox.url, 'EXISTS TABLE system.text_log')).split('\n')
  await expectVisible(exists === '1' ? page.getByRole('log') : page.getByText(/text_log/).first())
})

it.each([
  ['a desktop', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' as const }],
  ['a phone in the dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }],
])('is accessible on %s', async (_, options) => {
  await run("SELECT 'a line for axe'")
  const visit = await browser.open(`${product.url}/live-tail?host=0`, options)
  await expectVisible(lines(visit.page, 'a line for axe').first())
  expect(await findAccessibilityViolations(visit)).toEqual([])
  expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(options.viewport.width)
})
