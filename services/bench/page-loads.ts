import { chromium, type Browser, type Page } from 'playwright-core'
import { startProduct } from '../testing/product.ts'
import { findChromium } from '../testing/servers/chromium.ts'
import { startSandbox } from '../sandbox/start.ts'
import { type Benchmark, calculateQuantile, type Comparison } from './benchmark.ts'
import { lowerPriority } from './lower-priority.ts'

/** Maximum time until the largest element of a page is painted, in milliseconds. */
const maxPaintMs = 400
/** Maximum time from a click in the menu until the new page is painted, for 95 of 100 changes, in milliseconds. */
const maxChangeMs = 200
const slowShare = 0.95
/** Number of loads of each page, and of rounds through the menu. */
const loads = 5
const rounds = 2
/** Waiting time after which a page that was just loaded counts as idle. Its menu then preloads the other pages. */
const idleMs = 6_000
const paintWithinMs = 20_000
/** Waiting time between changes of the page, in which its data arrives. */
const pauseMs = 150

/** Paths of the most used pages. */
const pages = {
  overview: '/overview?host=0',
  hosts: '/hosts?host=0',
  fleet: '/fleet?host=0',
  'running queries': '/tables/running-queries?host=0',
  health: '/health?host=0',
}

/** Measures the largest contentful paint of pages on the loopback interface, and changes between pages by the menu. */
export const pageLoads: Benchmark = {
  name: 'page-loads',
  async *run() {
    await using sandbox = await startSandbox({ label: 'one', seed: true })
    await sandbox.seeded
    await using product = await startProduct({
      hosts: [{ url: sandbox.url, name: 'one' }],
      env: { LOG_LEVEL: 'warn', RATE_LIMIT_API_PER_MIN: '100000' },
    })
    // Lowers the priority of the servers, because a user's browser does not share its CPU with them.
    for (const pid of [sandbox.pid, ...product.pids]) lowerPriority(pid)
    const executablePath = findChromium()
    if (executablePath === undefined) throw new Error('Chromium not found; install it or set CHROMIUM_PATH')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    try {
      for (const [page, path] of Object.entries(pages)) {
        const ours: number[] = []
        for (let load = 0; load < loads; load += 1) ours.push(await measurePaint(browser, product.url + path))
        yield {
          name: `${page}, largest contentful paint`,
          unit: 'ms',
          ours,
          reference: [maxPaintMs],
          bar: { atMost: 1 },
        }
      }
      yield* measureChanges(browser, product.url + pages.overview)
    } finally {
      await browser.close()
    }
  },
}

/** Runs `work` with an empty page in a new profile. */
const withPage = async <T>(browser: Browser, work: (page: Page) => Promise<T>): Promise<T> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    return await work(await context.newPage())
  } finally {
    await context.close()
  }
}

const measurePaint = (browser: Browser, url: string): Promise<number> =>
  withPage(browser, async (page) => {
    await page.goto(url)
    await page.getByRole('heading', { level: 1 }).waitFor({ timeout: paintWithinMs })
    await page.waitForTimeout(idleMs / 3)
    return page.evaluate<number>(readLargestPaint)
  })

async function* measureChanges(browser: Browser, url: string): AsyncIterable<Comparison> {
  const [first, again]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    await withPage(browser, async (page) => {
      await page.goto(url)
      await page.getByRole('heading', { level: 1 }).waitFor({ timeout: paintWithinMs })
      await page.waitForTimeout(idleMs)
      first.push(await changePages(page))
      again.push(await changePages(page))
    })
  }
  const common = { unit: 'ms', reference: [maxChangeMs], bar: { atMost: 1 } } as const
  yield { ...common, name: 'change to each page of the menu, first visits, p95', ours: first }
  yield { ...common, name: 'change to each page of the menu, further visits, p95', ours: again }
}

/** Opens each page of the menu by a click; returns the time until its heading is painted, as a quantile. */
const changePages = async (page: Page): Promise<number> => {
  const times: number[] = []
  for (const path of await page.evaluate<string[]>(listMenuPaths)) {
    const time = await page.evaluate<number | null>(`(${changePage})(${JSON.stringify(path)})`)
    if (time !== null) times.push(time)
    await page.waitForTimeout(pauseMs)
  }
  return calculateQuantile(times, slowShare)
}

// The types of the browser are not available to services, so that these scripts are texts.

const readLargestPaint = `new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? 0))
  observer.observe({ type: 'largest-contentful-paint', buffered: true })
})`

/** Opens all groups of the menu, and returns the paths of its links, each once. */
const listMenuPaths = `(async () => {
  for (const button of document.querySelectorAll('nav button[aria-label$=": show pages"]')) button.click()
  await new Promise((resolve) => setTimeout(resolve, 200))
  return [...new Set([...document.querySelectorAll('nav[aria-label="Pages"] a')].map(({ pathname }) => pathname))]
})()`

/** Clicks a link, and resolves after the frame that shows the heading of the new page; null for the open page. */
const changePage = `(path) => {
  const link = [...document.querySelectorAll('nav[aria-label="Pages"] a')].find(({ pathname }) => pathname === path)
  const before = document.querySelector('h1')
  const text = before?.textContent
  if (!link || location.pathname === path) return null
  const startMs = performance.now()
  link.click()
  return new Promise((resolve) => {
    const check = () => {
      const heading = document.querySelector('h1')
      const isSame = heading === before && heading?.textContent === text
      if (location.pathname !== path || !heading || isSame) return requestAnimationFrame(check)
      // The task after a frame runs when the frame was painted.
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startMs)))
    }
    check()
  })
}`
