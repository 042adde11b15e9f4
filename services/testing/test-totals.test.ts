import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './source-file.ts'
import { readTotals } from './test-totals.ts'

const tests = [
  { status: 'passed', tags: [] },
  { status: 'skipped', tags: [] },
  { status: 'skipped', tags: ['long'] },
  { status: 'skipped', tags: ['night'] },
]
const green = { numPassedTests: 3, numFailedTests: 0, testResults: [{ status: 'passed', assertionResults: tests }] }
const unloadable = { status: 'failed', assertionResults: [] }

it.each([
  { title: 'counts the tests of the report', report: green, exitCode: 0, totals: { passed: 3, failed: 0, leftOut: 2 } },
  {
    title: 'does not count excluded tests as skipped',
    report: green,
    exitCode: 0,
    unwanted: 'long',
    totals: { passed: 3, failed: 0, leftOut: 1 },
  },
  {
    title: 'does not count tests without the only included tag as skipped',
    report: green,
    exitCode: 0,
    wanted: 'long',
    totals: { passed: 3, failed: 0, leftOut: 1 },
  },
  {
    title: 'counts an error outside all tests as a failure',
    report: green,
    exitCode: 1,
    totals: { passed: 3, failed: 1, leftOut: 2 },
  },
  {
    title: 'counts a file that could not be loaded as a failure',
    report: { ...green, testResults: [unloadable] },
    exitCode: 1,
    totals: { passed: 3, failed: 1, leftOut: 0 },
  },
  {
    title: 'counts a run without a report as a failure',
    report: undefined,
    exitCode: 0,
    totals: { passed: 0, failed: 1, leftOut: 0 },
  },
  {
    title: 'counts no failure of an interrupted run without a report',
    report: undefined,
    exitCode: 1,
    isInterrupted: true,
    totals: { passed: 0, failed: 0, leftOut: 0 },
  },
  {
    title: 'counts no failure of an interrupted run but tests that failed',
    report: { ...green, numFailedTests: 1, testResults: [...green.testResults, unloadable] },
    exitCode: 1,
    isInterrupted: true,
    totals: { passed: 3, failed: 1, leftOut: 2 },
  },
])('$title', async ({ report, exitCode, unwanted, wanted, isInterrupted, totals }) => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-totals-'))
  const file = join(directory, 'tests.json')
  if (report) await writeFile(file, JSON.stringify(report))
  expect(await readTotals(file, { exitCode, unwanted, wanted, isInterrupted })).toEqual(totals)
  await rm(directory, { recursive: true })
})

it.each(['SIGINT', 'SIGTERM'] as const)('prints in its last line that %s interrupted the run', async (signal) => {
  // The second file takes seconds, which leaves time to interrupt the run.
  const rest = ['services/acceptance/run.ts', 'services/shared/lifecycle/stop.test.ts']
  const child = spawn(process.execPath, rest, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  const closed = once(child, 'close')
  let output = ''
  for await (const chunk of child.stdout) {
    output += String(chunk)
    if (!child.killed && output.includes(' RUN ')) child.kill(signal)
  }
  await closed
  expect(output.trimEnd().split('\n').at(-1)).toBe(
    `interrupted by ${signal}: 0 passed, 0 failed, the other tests did not finish`,
  )
  expect(child.exitCode).toBe(128 + constants.signals[signal])
})
