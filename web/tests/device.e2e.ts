// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { openBrowser, expectVisible, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const secret = 'operator-secret-of-the-device-page'
/** The product needs a host, but this page does not query it. Nothing listens at this address. */
const hosts = [{ url: 'http://127.0.0.1:9', name: 'silent' }]

let product: Product
let browser: TestBrowser
const scope = new AsyncDisposableStack()

beforeAll(async () => {
  const env = { SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN: 'true', RATE_LIMIT_DEVICE_CODE_PER_MIN: '1000' }
  product = scope.use(await startProduct({ hosts, env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const post = async (path: string, fields: Record<string, string>): Promise<Record<string, string>> => {
  const answer = await fetch(product.url + path, { method: 'POST', body: new URLSearchParams(fields) })
  return answer.json()
}
const begin = () => post('/auth/device/code', { client_id: 'watch', scope: 'read mcp' })
const poll = ({ device_code = '' }) => post('/auth/token', { grant_type: 'device_code', device_code })

/** Opens the device page, enters the operator secret and continues. */
const look = async (address: string, typed: string, width = 1440): Promise<Visit> => {
  const visit = await browser.visit({ viewport: { width, height: 900 } })
  await visit.page.goto(address)
  await visit.page.getByLabel('Operator secret').fill(typed)
  await visit.page.getByRole('button', { name: 'Continue', exact: true }).click()
  return visit
}

describe('the device login page', () => {
  it.each([1440, 390])('shows the request at %d px, and approves the device', async (width) => {
    const codes = await begin()
    const visit = await look(codes.verification_uri_complete ?? '', secret, width)
    for (const text of [codes.user_code ?? '', 'watch', 'read data, use the MCP server', 'Waiting for approval'])
      await expectVisible(visit.page.getByText(text, { exact: true }))
    expect(await findAccessibilityViolations(visit)).toEqual([])
    expect(await poll(codes)).toMatchObject({ error: 'authorization_pending' })
    await visit.page.getByRole('button', { name: 'Approve', exact: true }).click()
    await expectVisible(visit.page.getByText('Device approved'))
    expect(await poll(codes)).toMatchObject({ token_type: 'Bearer', scope: 'read mcp' })
    expect(visit.consoleErrors).toEqual([])
  })

  it('denies a device', async () => {
    const codes = await begin()
    const { page } = await look(codes.verification_uri_complete ?? '', secret)
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await expectVisible(page.getByText('Device denied'))
    expect(await poll(codes)).toMatchObject({ error: 'access_denied' })
  })

  it('shows why a secret or code is invalid and accepts another', async () => {
    const codes = await begin()
    const { page } = await look(codes.verification_uri ?? '', 'wrong')
    await page.getByLabel('Code', { exact: true }).fill('BBBB-BBBB')
    const next = page.getByRole('button', { name: 'Continue', exact: true })
    await next.click()
    await expectVisible(page.getByText('wrong operator secret'))
    await page.getByLabel('Operator secret').fill(secret)
    await next.click()
    await expectVisible(page.getByText('unknown code; compare it with the one on the device'))
    await page.getByLabel('Code', { exact: true }).fill((codes.user_code ?? '').toLowerCase())
    await next.click()
    await expectVisible(page.getByRole('button', { name: 'Approve', exact: true }))
  })
})
