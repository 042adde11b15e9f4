import type { Browser, BrowserContext, Page } from 'playwright-core'

/** Maximum time until a page has loaded. */
export const pagePatienceMs = 120_000
const pollMs = 100
const hasNoPlaceholders =
  "[...document.querySelectorAll('main .skeleton')].every((part) => part.getBoundingClientRect().top >= innerHeight)"

/** Opens a context whose pictures look the same on every machine. */
export const openPictureContext = async (
  browser: Browser,
  viewport: { width: number; height: number },
): Promise<BrowserContext> => {
  const context = await browser.newContext({
    viewport,
    timezoneId: 'UTC',
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(pagePatienceMs)
  return context
}

/** Waits until a page shows its heading and has no pending requests and no visible placeholders. */
export const waitForPage = async (page: Page): Promise<void> => {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('networkidle')
  // The content security policy forbids `waitForFunction`, which evaluates its text in the page.
  for (let waitedMs = 0; !(await page.evaluate<boolean>(hasNoPlaceholders)); waitedMs += pollMs) {
    if (waitedMs > pagePatienceMs) throw new Error(`${page.url()} did not load; check the product`)
    await page.waitForTimeout(pollMs)
  }
}
