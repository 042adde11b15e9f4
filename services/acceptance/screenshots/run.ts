import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { fetchJson } from '../../testing/fetch-json.ts'
import { startProduct } from '../../testing/product.ts'
import { findChromium } from '../../testing/servers/chromium.ts'
import { screenshotPages } from './pages.ts'
import { openPictureContext, waitForPage } from './wait-for-page.ts'

const folder = join(import.meta.dirname, '../../../web/docs/pictures')
const scheduler = 'secret-of-the-scheduler'
/** Size of the screenshots, small enough for the documentation and the repository. */
const viewport = { width: 1280, height: 800 }

/** Takes screenshots of the product with two embedded hosts. */
const takeScreenshots = async (): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'screenshots-'))
  await using scope = new AsyncDisposableStack()
  scope.defer(() => rm(directory, { recursive: true, force: true }))
  const env = { CRON_SECRET: scheduler, SVC_STATE_DB_URL: `file:${join(directory, 'state.db')}` }
  const { url } = scope.use(await startProduct({ env }))
  await fetchJson(`${url}/api/cron/health-sweep`, { headers: { authorization: `Bearer ${scheduler}` } })
  const browser = scope.adopt(await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] }), (it) =>
    it.close(),
  )
  const context = await openPictureContext(browser, viewport)
  await mkdir(folder, { recursive: true })
  for (const { name, path } of screenshotPages) {
    const page = await context.newPage()
    await page.goto(`${url}${typeof path === 'string' ? path : await path(url)}`)
    await waitForPage(page)
    await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
    await page.close()
    process.stdout.write(`web/docs/pictures/${name}.png\n`)
  }
}

await takeScreenshots()
