import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { findProgram } from './source.ts'

/** The one without windows comes first: it draws the same pages for half the processor time. */
const names = ['chromium-headless-shell', 'chromium', 'google-chrome', 'google-chrome-stable']

/** The Chromium of browser tests: `CHROMIUM_PATH`, the system's, or one that Playwright has installed. */
export const chromiumProgram = (): string | undefined => {
  const own = chromium.executablePath()
  return process.env.CHROMIUM_PATH ?? names.map(findProgram).find(Boolean) ?? (existsSync(own) ? own : undefined)
}
