import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { RequirementTest } from '../requirements.ts'

const Report = z.object({
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
})

/** Numbers of passed and failed cases of a test. Both are 0 if the file cannot be loaded or has no such test. */
export interface TestOutcome {
  passed: number
  failed: number
}

/** Runs one test in a copy of the tree. Cases with the tag `long` run only if the test has no others. */
export const runTest = async (tree: string, test: RequirementTest): Promise<TestOutcome> => {
  const outcome = await runWith(tree, test, ['--tags-filter=!long'])
  return outcome.passed + outcome.failed > 0 ? outcome : runWith(tree, test, [])
}

const runWith = async (tree: string, test: RequirementTest, filter: readonly string[]): Promise<TestOutcome> => {
  const report = join(tree, 'mutation-report.json')
  await rm(report, { force: true })
  const options = ['--config', 'services/vitest.config.ts', '--project', projectOf(test.file), ...filter]
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...options, '-t', createTitlePattern(test).source, test.file]
  // `CI` is unset, because otherwise a suite without its server fails, which would count as a detected mutation.
  const env = { ...process.env, CI: '', TEST_REPORT: report }
  const child = spawn(process.execPath, vitest, { cwd: tree, stdio: 'ignore', env })
  await once(child, 'exit')
  const text = await readFile(report, 'utf8').catch(() => '{"testResults":[]}')
  const files = Report.parse(JSON.parse(text)).testResults
  const statuses = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length
  // If a hook fails, the file fails although no case has failed. A file that cannot be loaded has no cases.
  const hooks = files.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length > 0)
  return { passed: count('passed'), failed: Math.max(count('failed'), hooks.length) }
}

const projectOf = (file: string): string =>
  file.endsWith('.e2e.ts') ? 'browser' : file.startsWith('web/') ? 'web' : 'services'

const placeholder = /%[sdifjoO#]|%\.\d+s|\$[a-zA-Z][\w.]*/
const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Returns a pattern for the full title of a test. It fills the first placeholder with the case of the requirement. */
export const createTitlePattern = ({ name, case: first }: RequirementTest): RegExp => {
  const filled = first === undefined ? name : name.replace(placeholder, () => first)
  const parts = filled.split(' > ').map((part) => part.split(new RegExp(placeholder, 'g')).map(escape).join('.*'))
  return new RegExp(`${parts.join('.*')}$`)
}
