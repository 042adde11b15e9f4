import { chromium, type BrowserContextOptions, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { findChromium } from '../../services/testing/servers/chromium.ts'

/** Timeout of each wait. It is long, because the machine may be busy; passing tests do not reach it. */
const timeoutMs = 45_000
const pollMs = 20

/** An open page with its recorded requests and errors. */
export interface Visit {
  page: Page
  /** Requested API paths with their methods, in order. */
  requests: string[]
  /** Console errors and warnings, and uncaught exceptions. */
  consoleErrors: string[]
  /** Resolves when no API request is pending. */
  networkIdle: () => Promise<void>
}

export interface TestBrowser extends AsyncDisposable {
  /** Opens an empty page in a new profile, without storage and cache. */
  visit: (options?: BrowserContextOptions) => Promise<Visit>
  /**
   * Opens a URL in a new profile. Waits for its heading or the element of `shown`, then until no request is pending.
   */
  open: (url: string, options?: BrowserContextOptions, shown?: (page: Page) => Locator) => Promise<Visit>
}

/** Starts Chromium with the time zone UTC, regardless of the time zone of the machine. */
export const openBrowser = async (): Promise<TestBrowser> => {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('Chromium not found; install it or set CHROMIUM_PATH')
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  const browser = await chromium.launch({ executablePath, args })
  const visit = async (options: BrowserContextOptions = {}): Promise<Visit> => {
    // Closes other pages, because an open page keeps sending requests.
    await Promise.all(browser.contexts().map((context) => context.close()))
    const context = await browser.newContext({
      timezoneId: 'UTC',
      viewport: { width: 1440, height: 900 },
      // Animated placeholders would use CPU time and slow down the page under test.
      reducedMotion: 'reduce',
      ...options,
    })
    context.setDefaultTimeout(timeoutMs)
    return observe(await context.newPage())
  }
  return {
    visit,
    open: async (url, options, shown = (page) => page.getByRole('heading', { level: 1 })) => {
      const visited = await visit(options)
      await visited.page.goto(url)
      await expectVisible(shown(visited.page))
      await visited.networkIdle()
      return visited
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

const observe = (page: Page): Visit => {
  const [requests, consoleErrors]: [string[], string[]] = [[], []]
  const underway = new Set<object>()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (!pathname.startsWith('/api/')) return
    requests.push(`${request.method()} ${pathname}`)
    underway.add(request)
  })
  page.on('requestfinished', (request) => underway.delete(request))
  page.on('requestfailed', (request) => underway.delete(request))
  page.on('pageerror', (error) => consoleErrors.push(error.message))
  page.on('console', (message) => {
    // This warning is ignored: a page on a busy machine uses the preloaded configuration later than Chromium expects.
    const isLatePreload = message.text().includes('was preloaded using link preload but not used')
    const isProblem = message.type() === 'error' || message.type() === 'warning'
    if (isProblem && !isLatePreload) consoleErrors.push(message.text())
  })
  return { page, requests, consoleErrors, networkIdle: () => waitUntil(() => underway.size === 0) }
}

/** Polls until a condition holds; fails after the timeout. */
export const waitUntil = (holds: () => boolean | Promise<boolean>, interval = pollMs): Promise<void> =>
  expect.poll(holds, { timeout: timeoutMs, interval }).toBe(true)

/** Waits until an element is visible; fails after the timeout. */
export const expectVisible = (locator: Locator): Promise<void> => waitUntil(() => locator.isVisible())
