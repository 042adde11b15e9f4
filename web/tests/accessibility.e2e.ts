// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { openBrowser, waitUntil, type TestBrowser } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
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
  { path: '/tables/history-queries?host=0&filter=user.ne.none', width: 1440 },
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
  it.each(pages)('$path at $width px has no accessibility violations', async ({ path, width }) => {
    const visit = await browser.visit({ colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' })
    await visit.page.goto(`${product.url}${path}`)
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    await visit.networkIdle()
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })

  it.each([
    ['Switch host', 'Search hosts'],
    ['Time range', 'From'],
  ])('the panel "%s" has no accessibility violations', async (button, content) => {
    const visit = await browser.visit({ colorScheme, reducedMotion: 'reduce' })
    await visit.page.goto(`${product.url}/overview?host=0`)
    await visit.page.getByRole('button', { name: new RegExp(button) }).click()
    await visit.page.getByLabel(content).waitFor()
    await visit.networkIdle()
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })
})

describe('the checker', () => {
  it('reports an image without an accessible name', async () => {
    const visit = await browser.visit()
    await visit.page.setContent('<html lang="en"><title>x</title><main><h1>x</h1><img src="data:,"></main></html>')
    expect((await findAccessibilityViolations(visit)).some((finding) => finding.startsWith('image-alt'))).toBe(true)
  })
})

describe('with forced colours', () => {
  it('marks selected elements and keeps series colours distinct', async () => {
    const visit = await browser.visit({ forcedColors: 'active' })
    await visit.page.goto(`${product.url}/overview?host=0`)
    const outlineOf = (element: Element) => getComputedStyle(element).outlineStyle
    const here = visit.page
      .getByRole('navigation', { name: 'Pages', exact: true })
      .getByRole('link', { name: 'Overview', exact: true })
    expect(await here.first().evaluate(outlineOf)).toBe('solid')
    const swatches = visit.page.getByRole('button', { name: /^(Median|95 %|99 %) / }).locator('span:first-child')
    await waitUntil(async () => (await swatches.count()) === 3)
    const colors = await swatches.evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor))
    expect(new Set(colors).size).toBe(3)
  })
})

describe('with `prefers-contrast: more`', () => {
  it('makes lines darker, except grid lines', async () => {
    const linesOf = async (contrast: 'more' | 'no-preference') => {
      const { page } = await browser.visit({ contrast, colorScheme: 'light' })
      await page.goto(`${product.url}/overview?host=0`)
      const button = page.getByRole('button', { name: 'Refresh now', exact: true })
      const around = await button.evaluate((element) => getComputedStyle(element).borderTopColor)
      const grid = page.getByRole('figure', { name: /^Queries, / }).locator('line')
      return [around, await grid.first().evaluate((element) => getComputedStyle(element).stroke)]
    }
    const usual = 'rgb(225, 229, 234)'
    expect(await linesOf('no-preference')).toEqual([usual, usual])
    expect(await linesOf('more')).toEqual(['rgb(107, 116, 128)', usual])
  })
})

describe('with a larger browser font size', () => {
  it('enlarges all text, including charts, and the height of long tables', async () => {
    const visit = await browser.visit()
    // Scales the root font size by 1.5, like a browser with a default font size of 24 instead of 16 pixels.
    await visit.page.addInitScript(() => {
      document.addEventListener('DOMContentLoaded', () =>
        document.documentElement.style.setProperty('font-size', '21px'),
      )
    })
    await visit.page.goto(`${product.url}/tables/history-queries?host=0`)
    const table = visit.page.getByRole('table', { name: 'Query history', exact: true })
    await table.getByRole('row').nth(5).waitFor()
    const heights = await table.getByRole('row').evaluateAll((rows) => rows.slice(1, 5).map((row) => row.clientHeight))
    expect(new Set(heights)).toEqual(new Set([42]))
    const count = Number(await table.getAttribute('aria-rowcount'))
    expect(Math.abs((await table.evaluate(({ clientHeight }) => clientHeight)) - count * 42)).toBeLessThan(20)
    const words = visit.page.getByRole('figure').locator('text[text-anchor=end]')
    await waitUntil(async () => (await words.count()) > 0)
    const drawn = await words.evaluateAll((all) =>
      all.map((each) => ({
        size: Math.round(Number.parseFloat(getComputedStyle(each).fontSize)),
        isCut: each.getBoundingClientRect().left < (each.closest('section')?.getBoundingClientRect().left ?? 0),
      })),
    )
    expect(drawn).toEqual(drawn.map(() => ({ size: 17, isCut: false })))
  })
})

describe('by keyboard', () => {
  it('can skip the menu', async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/overview?host=0`)
    await visit.page.getByRole('heading', { level: 1 }).waitFor()
    await visit.page.keyboard.press('Tab')
    await visit.page.getByRole('link', { name: 'Skip to content', exact: true }).press('Enter')
    expect(await visit.page.evaluate(() => document.activeElement?.id)).toBe('content')
  })

  it('has no click target smaller than 24 pixels', async () => {
    const visit = await browser.visit()
    await visit.page.goto(`${product.url}/tables/history-queries?host=0`)
    await visit.page.getByRole('table', { name: 'Query history', exact: true }).waitFor()
    const small = await visit.page.evaluate(() =>
      [...document.querySelectorAll('button, select, a[href], [role=slider]')].flatMap((element) => {
        const { width, height } = element.getBoundingClientRect()
        return height > 0 && (height < 24 || width < 24) ? [`${element.textContent?.trim()} ${width}×${height}`] : []
      }),
    )
    expect(small).toEqual([])
  })
})
