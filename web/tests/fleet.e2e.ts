// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startStubFleet } from '../../services/testing/stub-fleet.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const size = 500
const figuresOfEach = 20
const mebibyte = 2 ** 20

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const fleet = scope.use(await startStubFleet(size, figuresOfEach))
  product = scope.use(await startProduct({ hosts: fleet.hosts }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (options = {}): Promise<Visit> =>
  browser.open(`${product.url}/fleet?host=0`, options, (page) => page.getByText(`${size} of ${size} hosts`))

it(`shows ${size} hosts with at most three requests and 80 MiB`, async () => {
  const visit = await open()
  // Requests of the shell do not count. They follow rendering, but on a slow machine they may be recorded by now.
  expect(visit.requests.filter((request) => !request.includes('/health/')).length).toBeLessThanOrEqual(3)
  const table = visit.page.getByRole('table', { name: 'Hosts', exact: true })
  expect(await table.getAttribute('aria-rowcount')).toBe(String(size + 1))
  expect(await table.getByRole('row').count()).toBeLessThan(120)
  const protocol = await visit.page.context().newCDPSession(visit.page)
  await protocol.send('HeapProfiler.collectGarbage')
  const { usedSize } = await protocol.send('Runtime.getHeapUsage')
  expect(usedSize / mebibyte).toBeLessThanOrEqual(80)
  expect(visit.consoleErrors).toEqual([])
})

it('links each row to its host', async () => {
  const { page } = await open()
  await page.getByRole('searchbox', { name: 'Search hosts by name or tag', exact: true }).fill('stub-499')
  const row = page.getByRole('table', { name: 'Hosts', exact: true }).getByRole('row').filter({ hasText: 'stub-499' })
  await row.getByRole('link', { name: 'stub-499', exact: true }).click()
  await page.waitForURL(/\/overview\?host=499$/)
  await expectVisible(page.getByRole('button', { name: /Host: stub-499/ }))
})

it('finds a host by name in the table and in the host switcher', async () => {
  const { page } = await open()
  await page.getByRole('searchbox', { name: 'Search hosts by name or tag', exact: true }).fill('stub-499')
  await expectVisible(page.getByText(`1 of ${size} hosts`))
  await page.getByRole('button', { name: /Switch host/ }).click()
  await page.getByRole('combobox', { name: 'Search hosts', exact: true }).waitFor()
  const options = page.getByRole('listbox', { name: 'Hosts', exact: true }).getByRole('option')
  expect(await options.count()).toBeLessThan(40)
  expect(await options.first().getAttribute('aria-setsize')).toBe(String(size))
  await page.keyboard.type('stub-321')
  await waitUntil(async () => (await options.count()) === 1)
  await page.keyboard.press('Enter')
  await page.waitForURL(/host=321/)
})

it.each(['light', 'dark'] as const)('has no accessibility violations in the %s theme', async (colorScheme) => {
  const visit = await open({ colorScheme, reducedMotion: 'reduce' })
  expect(await findAccessibilityViolations(visit)).toEqual([])
})

it('fits a phone', async () => {
  const { page } = await open({ viewport: { width: 390, height: 844 } })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})
