// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { expectVisible, openBrowser, type TestBrowser, type Visit } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const one = scope.use(await startSeededHost('one'))
  const env = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }
  product = scope.use(await startProduct({ hosts: [{ url: one.url, name: 'one' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, options = {}): Promise<Visit> =>
  browser.open(`${product.url}${path}`, options, (page) => page.getByRole('heading', { level: 1 }).first())

/** A page with few requests. */
const anyPage = '/about?host=0'

describe('keys', () => {
  it('open the sheet that lists them, and go where it says', async () => {
    const { page } = await open(anyPage)
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts', exact: true })
    await expectVisible(sheet.getByText('Pause or resume refresh'))
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.waitForURL(/\/fleet/)
    await page.keyboard.press('p')
    await page.waitForURL(/paused=1/)
  })

  it('of one letter do nothing once they are turned off', async () => {
    const { page } = await open(anyPage)
    await page.keyboard.press(',')
    const dialog = page.getByRole('dialog', { name: 'Settings', exact: true })
    await dialog
      .getByRole('group', { name: 'Single-key shortcuts', exact: true })
      .getByRole('radio', { name: 'Off', exact: true })
      .check()
    await page.keyboard.press('Escape')
    await page.keyboard.press('c')
    await page.keyboard.press('Control+k')
    await expectVisible(page.getByRole('dialog', { name: 'Search or run a command', exact: true }))
    expect(page.url()).not.toContain('compare')
  })

  it('open the palette also in the moment in which another dialog closes', async () => {
    const { page } = await open(anyPage)
    await page.keyboard.press(',')
    await page.getByRole('dialog', { name: 'Settings', exact: true }).waitFor()
    // The key must work even before the browser fires the `close` event of the dialog, which it does with a delay.
    await page.evaluate(() => {
      document.querySelector('dialog')?.close()
      document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))
    })
    const palette = page.getByRole('dialog', { name: 'Search or run a command', exact: true })
    await palette.waitFor()
    await page.keyboard.type('topic merges')
    await page
      .getByRole('option', { name: /^Merges/ })
      .first()
      .waitFor()
  })

  it('are text in a text field', async () => {
    const { page } = await open('/tables/settings?host=0')
    await page.keyboard.press('/')
    await page.keyboard.type('gpc')
    await page.waitForURL(/search=gpc/)
    expect(page.url()).not.toMatch(/paused|compare/)
  })

  it('are all used as search text, even with slow typing and slow rendering', { tags: ['long'] }, async () => {
    const { page } = await open('/tables/settings?host=0')
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 10 })
    const field = page.getByRole('main').getByRole('searchbox')
    await field.focus()
    const text = 'max_insert_threads'
    // The delay is slightly longer than the debounce, so that each key arrives while the page is still updating.
    await page.keyboard.type(text, { delay: 356 })
    await page.waitForURL(new RegExp(`search=${text}(&|$)`))
    expect(await field.inputValue()).toBe(text)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    await page.goBack()
    await page.goForward()
    await expect.poll(() => field.inputValue()).toBe(text)
  })

  it('are kept for a search field that is rendered and not visible yet', async () => {
    const { page } = await open('/tables/settings?host=0')
    const field = page.getByRole('main').getByRole('searchbox')
    await field.waitFor()
    await page.evaluate(() => document.querySelector('main')?.classList.add('invisible'))
    await page.keyboard.press('/')
    await page.keyboard.type('gpc')
    await page.evaluate(() => document.querySelector('main')?.classList.remove('invisible'))
    await page.waitForURL(/search=gpc(&|$)/)
    expect(page.url()).not.toMatch(/paused|compare/)
  })

  it('are kept for the search of a page that is still loading', async () => {
    const { page } = await browser.visit()
    const { promise: isTyped, resolve: letLoad } = Promise.withResolvers<void>()
    await page.route('**/api/v1/config', async (route) => {
      await isTyped
      await route.continue()
    })
    await page.goto(`${product.url}/tables/settings?host=0`)
    await page.getByRole('button', { name: /Search or run a command/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('gpcc')
    await page.keyboard.press('Backspace')
    expect(await page.getByRole('main').getByRole('searchbox').count()).toBe(0)
    letLoad()
    await page.waitForURL(/search=gpc(&|$)/)
    expect(page.url()).not.toMatch(/paused|compare/)
    expect(await page.getByRole('main').getByRole('searchbox').inputValue()).toBe('gpc')
  })
})
