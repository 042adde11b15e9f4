import { readFile } from 'node:fs/promises'
import { z } from 'zod'

/** The tag of suites whose programs only machines of the night have; elsewhere they are missed by nobody. */
export const night = 'night'

/** How many checks passed, failed, and were left out for want of a server. */
export interface Totals {
  passed: number
  failed: number
  leftOut: number
}

/** The totals of a run that counted nothing. */
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

/** How a run of vitest ended. */
export interface RunEnd {
  exitCode: number
  /** The tag of tests that were not to run, so they are not left out. */
  unwanted?: string | undefined
  /** Whether a signal stopped the run: then only tests that failed are failures, not the missing rest. */
  isInterrupted?: boolean
}

/**
 * Returns the totals of a vitest JSON report. A file that could not be loaded counts as one failure; so does a run that
 * ended badly though no test failed, and a run that left no report. Tests of the night are never left out.
 */
export const readTotals = async (
  file: string,
  { exitCode, unwanted, isInterrupted = false }: RunEnd,
): Promise<Totals> => {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return { ...noTotals, failed: isInterrupted ? 0 : 1 }
  const report = Report.parse(JSON.parse(text))
  const unloadable = report.testResults.filter((one) => one.status === 'failed' && one.assertionResults.length === 0)
  const failed = report.numFailedTests + (isInterrupted ? 0 : unloadable.length)
  const notRun = report.testResults
    .flatMap((one) => one.assertionResults)
    .filter(({ status }) => status === 'skipped' || status === 'pending')
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 && !isInterrupted ? 1 : failed,
    leftOut: notRun.filter(({ tags }) => !tags.some((tag) => tag === unwanted || tag === night)).length,
  }
}

export const addTotals = (one: Totals, two: Totals): Totals => ({
  passed: one.passed + two.passed,
  failed: one.failed + two.failed,
  leftOut: one.leftOut + two.leftOut,
})
