import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { findProgram } from './server-source.ts'

/** Names of Chromium programs. The headless shell is first, because it renders the same pages in half the CPU time. */
const names = ['chromium-headless-shell', 'chromium', 'google-chrome', 'google-chrome-stable']

/** Returns the path of Chromium: `CHROMIUM_PATH`, an installed program, or the download of Playwright. */
export const findChromium = (): string | undefined => {
  const own = chromium.executablePath()
  return process.env.CHROMIUM_PATH ?? names.map(findProgram).find(Boolean) ?? (existsSync(own) ? own : undefined)
}
