import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** The tag of suites that need nightly programs. Where these are missing, the suites do not count as skipped. */
export const nightlyTag = 'night'

/** Numbers of passed, failed and skipped tests. A test is skipped if a server or program is missing. */
export interface Totals {
  passed: number
  failed: number
  leftOut: number
}

/** The totals of an empty run. */
export const noTotals: Totals = { passed: 0, failed: 0, leftOut: 0 }

const Report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string(), tags: z.array(z.string()) })),
    }),
  ),
})

/** How a Vitest run ended. */
export interface VitestRunResult {
  exitCode: number
  /** The tag of tests that the run excludes. They do not count as skipped. */
  unwanted?: string | undefined
  /** The tag of the only tests that the run includes. Other tests do not count as skipped. */
  wanted?: string | undefined
  /** Whether a signal stopped the run. If so, tests that did not run do not count as failures. */
  isInterrupted?: boolean
}

/**
 * Returns the totals of a Vitest JSON report. A file that cannot be loaded counts as one failure. So does a run without
 * a report, or one that failed without a failed test. Tests that need nightly programs never count as skipped.
 */
export const readTotals = async (
  file: string,
  { exitCode, unwanted, wanted, isInterrupted = false }: VitestRunResult,
): Promise<Totals> => {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return { ...noTotals, failed: isInterrupted ? 0 : 1 }
  const report = Report.parse(JSON.parse(text))
  const unloadable = report.testResults.filter((one) => one.status === 'failed' && one.assertionResults.length === 0)
  const failed = report.numFailedTests + (isInterrupted ? 0 : unloadable.length)
  const notRun = report.testResults
    .flatMap((one) => one.assertionResults)
    .filter(({ status }) => status === 'skipped' || status === 'pending')
    .filter(({ tags }) => wanted === undefined || tags.includes(wanted))
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 && !isInterrupted ? 1 : failed,
    leftOut: notRun.filter(({ tags }) => !tags.some((tag) => tag === unwanted || tag === nightlyTag)).length,
  }
}

export const addTotals = (one: Totals, two: Totals): Totals => ({
  passed: one.passed + two.passed,
  failed: one.failed + two.failed,
  leftOut: one.leftOut + two.leftOut,
})
