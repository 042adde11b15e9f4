import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readTotals } from './totals.ts'

const tests = [
  { status: 'passed', tags: [] },
  { status: 'skipped', tags: [] },
  { status: 'skipped', tags: ['long'] },
  { status: 'skipped', tags: ['night'] },
]
const green = { numPassedTests: 3, numFailedTests: 0, testResults: [{ status: 'passed', assertionResults: tests }] }
const unloadable = { status: 'failed', assertionResults: [] }

it.each([
  { title: 'counts what the report says', report: green, exitCode: 0, totals: { passed: 3, failed: 0, leftOut: 2 } },
  {
    title: 'leaves nothing out that was not to run',
    report: green,
    exitCode: 0,
    unwanted: 'long',
    totals: { passed: 3, failed: 0, leftOut: 1 },
  },
  {
    title: 'fails an error outside every test',
    report: green,
    exitCode: 1,
    totals: { passed: 3, failed: 1, leftOut: 2 },
  },
  {
    title: 'fails a file that could not be loaded',
    report: { ...green, testResults: [unloadable] },
    exitCode: 1,
    totals: { passed: 3, failed: 1, leftOut: 0 },
  },
  {
    title: 'fails a run without a report',
    report: undefined,
    exitCode: 0,
    totals: { passed: 0, failed: 1, leftOut: 0 },
  },
])('$title', async ({ report, exitCode, unwanted, totals }) => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-totals-'))
  const file = join(directory, 'tests.json')
  if (report) await writeFile(file, JSON.stringify(report))
  expect(await readTotals(file, exitCode, unwanted)).toEqual(totals)
  await rm(directory, { recursive: true })
})
