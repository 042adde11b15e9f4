import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser } from './browser.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const sandbox = scope.use(await startSeededHost('one'))
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }] }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

describe('an incident', () => {
  it('has notes of users and the queries of its time, and is exported as Markdown', async () => {
    const since = Date.now() - 3_600_000
    const visit = await browser.open(`${product.url}/incidents/e1?host=0&since=${since}`)
    const { page } = visit
    await page.getByRole('textbox', { name: 'Note (Markdown)', exact: true }).fill('Restarted **one** <b>now</b>')
    await page.getByRole('button', { name: 'Add note', exact: true }).click()
    const timeline = page.getByRole('region', { name: 'Timeline', exact: true })
    await expectVisible(timeline.getByText('Note by anonymous', { exact: true }))
    await expectVisible(timeline.getByText('<b>').first())
    await expectVisible(
      page.getByRole('region', { name: 'Longest queries', exact: true }).getByRole('listitem').first(),
    )
    expect(await findAccessibilityViolations(visit)).toEqual([])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as Markdown', exact: true }).click(),
    ])
    const text = await readFile(await file.path(), 'utf8')
    expect(text).toContain(String.raw`**Note** by anonymous: Restarted \*\*one\*\* \<b\>now\</b\>`)
    expect(text).toContain('## Affected queries')
    await page.getByRole('button', { name: 'Delete note', exact: true }).click()
    await waitUntil(async () => (await timeline.getByText('Note by anonymous', { exact: true }).count()) === 0)
    expect(visit.consoleErrors).toEqual([])
  })
})
