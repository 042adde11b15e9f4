// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let product: Product
let browser: TestBrowser
let target: LocalServer
const scope = new AsyncDisposableStack()

interface LocalServer {
  origin: string
  /** The texts of the messages that arrived at the webhook. */
  messages: string[]
  /** The API keys of the requests to the model. */
  keys: (string | undefined)[]
}

const completion = {
  id: '1',
  object: 'chat.completion',
  created: 1,
  model: 'local',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'OK' } }],
}

/** Starts a server on loopback with a webhook at its secret path and the API of a model gateway at `/v1`. */
const startLocalServer = async (): Promise<LocalServer> => {
  const [messages, keys]: [string[], (string | undefined)[]] = [[], []]
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (request.url === '/v1/chat/completions') {
      keys.push(request.headers.authorization)
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion))
    }
    if (request.url !== '/known-only-here') return response.writeHead(404).end('no_service')
    messages.push(JSON.parse(body).text)
    return response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scope.defer(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('cannot start the server: it has no port')
  return { origin: `http://127.0.0.1:${address.port}`, messages, keys }
}

beforeAll(async () => {
  target = await startLocalServer()
  const sandbox = scope.use(await startSeededHost('one'))
  const directory = await mkdtemp(join(tmpdir(), 'first-run-'))
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const hosts = [
    { url: sandbox.url, name: 'one' },
    { url: 'http://127.0.0.1:9', name: 'gone' },
  ]
  // The data directory is the only setting that `npm start` adds.
  product = scope.use(await startProduct({ hosts, env: { SVC_DATA_DIRECTORY: directory } }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = (path: string, title: string): Promise<Visit> =>
  browser.open(`${product.url}${path}`, {}, (page) => page.getByRole('heading', { level: 1, name: title, exact: true }))

/** Returns a step of the setup page. */
const step = (page: Page, title: string): Locator => page.getByRole('listitem').filter({ hasText: title })
const isState = (page: Page, title: string, state: string) =>
  expectVisible(step(page, title).getByText(`${title}: ${state}`))
const conditions = async (): Promise<unknown[]> =>
  (await (await fetch(`${product.url}/api/v1/health/alert-state`)).json()).data

describe('the image without hosts', () => {
  it('starts, leads to the setup page and monitors the first host that is added', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'no-hosts-'))
    scope.defer(() => rm(directory, { recursive: true, force: true }))
    const sandbox = scope.use(await startSeededHost('two'))
    const env = { NODE_ENV: 'production', SVC_DATA_DIRECTORY: directory }
    await using empty = await startProduct({ hosts: [], env })
    const visit = await browser.open(empty.url, {}, (page) =>
      page.getByRole('heading', { level: 1, name: 'Set up', exact: true }),
    )
    const { page } = visit
    await isState(page, 'Connect a host', 'To do')
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.goto(`${empty.url}/alerts/rules?host=0`)
    await page.getByRole('main').getByRole('link', { name: 'Set up', exact: true }).click()
    await page.getByRole('link', { name: 'Add host', exact: true }).click()
    await page.getByRole('main').getByRole('button', { name: 'Add host…', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Add host', exact: true })
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(sandbox.url)
    await dialog.getByRole('textbox', { name: /^User/ }).fill('default')
    await dialog.getByRole('textbox', { name: /^Label/ }).fill('first')
    await dialog.getByRole('button', { name: 'Add host', exact: true }).click()
    await expectVisible(dialog.getByText('first is monitored'))
    await dialog.getByRole('link', { name: 'Open overview', exact: true }).click()
    await expectVisible(page.getByRole('heading', { level: 1, name: 'Overview', exact: true }))
  })
})

describe('a new installation', () => {
  it('leads from the overview to a delivered test notification', async () => {
    // Sweeps run without any setting, so that old alerts exist before the first channel.
    await waitUntil(async () => (await conditions()).length > 0)
    const visit = await open('/overview?host=0', 'Overview')
    const { page } = visit
    await page.getByRole('link', { name: /^Finish the setup/ }).click()
    await isState(page, 'Connect a host', 'Done')
    await isState(page, 'Test a notification channel', 'To do')
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.getByRole('link', { name: 'Set up a channel', exact: true }).click()

    const card = page.getByRole('article', { name: 'Webhook', exact: true })
    await card.getByLabel('URL').fill(`${target.origin}/nothing`)
    const send = card.getByRole('button', { name: 'Send test notification', exact: true })
    await send.click()
    await expectVisible(card.getByText('webhook: rejected: invalid settings – HTTP 404', { exact: true }))
    await expectVisible(card.getByText(/^Response: HTTP 404 in \d+ ms – no_service$/))
    await card.getByLabel('URL').fill(`${target.origin}/known-only-here`)
    await send.click()
    await expectVisible(card.getByText('webhook: delivered'))
    expect(target.messages).toEqual(['TEST: Notifications work'])
    await card.getByRole('button', { name: 'Save Webhook', exact: true }).click()
    await expectVisible(card.getByText('Ready'))
    expect(await page.content()).not.toContain('/known-only-here')
    expect(visit.consoleErrors).toEqual([])
  })

  it('sends the alerts from before the first channel as one digest', async () => {
    await waitUntil(() => target.messages.some((message) => message.startsWith('DIGEST: ')))
    expect(target.messages.filter((message) => !message.startsWith('TEST: '))).toHaveLength(1)
  })

  it('lets the local user acknowledge an alert', async () => {
    const { page } = await open('/health?host=1', 'Health')
    const card = page.getByRole('article', { name: /^Host unreachable/ }).first()
    await card.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await card.getByRole('button', { name: 'Acknowledge', exact: true }).last().click()
    await expectVisible(card.getByText(/^Acknowledged/).first())
  })

  it('configures the agent with a model on this machine, and shows each step as done', async () => {
    const visit = await open('/setup', 'Set up')
    const { page } = visit
    await isState(page, 'Test a notification channel', 'Done')
    await isState(page, 'Enable alerting', 'Done')
    await page.getByRole('link', { name: 'Set up the model gateway', exact: true }).click()
    const form = page.getByRole('form', { name: 'Model gateway', exact: true })
    await form.getByLabel('Gateway').selectOption('other')
    await form.getByLabel('Base URL').fill(`${target.origin}/v1`)
    await form.getByLabel('API key').fill('sk-of-this-machine')
    await form.getByLabel('Model').fill('local')
    await form.getByRole('button', { name: 'Test', exact: true }).click()
    await expectVisible(form.getByText(/^gateway_a:local responded in \d+ ms\.$/))
    expect(target.keys).toEqual(['Bearer sk-of-this-machine'])
    await form.getByRole('button', { name: 'Save', exact: true }).click()
    await expectVisible(form.getByText('Saved.'))
    expect(await form.getByLabel('API key').inputValue()).toBe('')
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await page.goto(`${product.url}/setup`)
    await isState(page, 'Configure the agent', 'Done')
    expect(await page.content()).not.toContain('sk-of-this-machine')
  })

  it('hides the link on the overview when it is dismissed', async () => {
    const { page, requests, networkIdle } = await open('/setup', 'Set up')
    await page.getByRole('button', { name: 'Dismiss', exact: true }).click()
    await page.getByRole('link', { name: 'Go to overview', exact: true }).click()
    await expectVisible(page.getByRole('heading', { level: 1, name: 'Overview', exact: true }))
    await networkIdle()
    expect(await page.getByRole('link', { name: /^Finish the setup/ }).count()).toBe(0)
    expect(requests.filter((request) => request === 'GET /api/v1/setup')).toHaveLength(1)
  })

  it('keeps its settings after a restart', async () => {
    await product.gateway.restart()
    const { page } = await open('/setup', 'Set up')
    await isState(page, 'Configure the agent', 'Done')
    await isState(page, 'Test a notification channel', 'Done')
  })
})
