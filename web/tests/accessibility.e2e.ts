// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/acceptance/product.ts'
import { startSeeded } from '../../services/acceptance/seeded.ts'
import { openBrowser, type TestBrowser } from './browser.ts'
import { findings } from './findings.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeeded('one'))
  const hosts = [
    { url: sandbox.url, name: 'one' },
    { url: 'http://127.0.0.1:1', name: 'gone' },
  ]
  product = scope.use(await startProduct({ hosts }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const pages = [
  { path: '/overview?host=0', width: 1440 },
  { path: '/overview?host=1', width: 1440 },
  { path: '/overview?host=0', width: 390 },
  { path: '/tables/history-queries?host=0&filter=user.ne.nobody', width: 1440 },
  { path: '/tables/history-queries?host=0', width: 390 },
  { path: '/tables/running-queries?host=0', width: 1440 },
  { path: '/parts?host=0&range=7d', width: 1440 },
  { path: '/storage?host=0', width: 1440 },
  { path: '/storage?host=0', width: 390 },
  { path: '/backups?host=0', width: 390 },
  { path: '/ingestion?host=0', width: 1440 },
  { path: '/topics/merges?host=0&rows=mutations', width: 1440 },
  { path: '/hosts?host=0', width: 1440 },
  { path: '/nowhere', width: 1440 },
]

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  it.each(pages)('$path at $width px has nothing that axe objects to', async ({ path, width }) => {
    const visit = await browser.visit({ colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    await visit.page.goto(`${product.url}${path}`)
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    await visit.settled()
    expect(await findings(visit)).toEqual([])
  })

  it.each([
    ['Switch host', 'Find a host'],
    ['Time range', 'From'],
  ])('the panel "%s" has nothing that axe objects to', async (button, content) => {
    const visit = await browser.visit({ colorScheme, reducedMotion: 'reduce' })
    await visit.page.goto(`${product.url}/overview?host=0`)
    await visit.page.getByRole('button', { name: new RegExp(button) }).click()
    await visit.page.getByLabel(content).waitFor()
    await visit.settled()
    expect(await findings(visit)).toEqual([])
  })
})

describe('the checker', () => {
  it('would object to a picture without a name', async () => {
    const visit = await browser.visit()
    await visit.page.setContent('<html lang="en"><title>x</title><main><h1>x</h1><img src="data:,"></main></html>')
    expect((await findings(visit)).some((finding) => finding.startsWith('image-alt'))).toBe(true)
  })
})

describe('by keyboard', () => {
  it('skips the menu', async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/overview?host=0`)
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    await visit.page.keyboard.press('Tab')
    await visit.page.getByRole('link', { name: 'Skip to the content' }).press('Enter')
    expect(await visit.page.evaluate(() => document.activeElement?.id)).toBe('content')
  })

  it('has no target smaller than 24 pixels', async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/tables/history-queries?host=0`)
    await visit.page.getByRole('table', { name: 'Query history' }).waitFor()
    const small = await visit.page.evaluate(() =>
      [...document.querySelectorAll('button, select, a[href], [role=slider]')].flatMap((element) => {
        const { width, height } = element.getBoundingClientRect()
        return height > 0 && (height < 24 || width < 24) ? [`${element.textContent?.trim()} ${width}×${height}`] : []
      }),
    )
    expect(small).toEqual([])
  })
})
