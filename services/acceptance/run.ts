import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { seedHosts } from '../testing/seeded-hosts.ts'
import { installServers } from '../testing/servers/install.ts'
import { addTotals, noTotals, readTotals, type Totals } from '../testing/test-totals.ts'

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The tag of long tests, such as faults, fuzzing and soak tests. `npm test` skips them; `.ci/run` runs them. */
const longTag = 'long'

/**
 * Runs all suites except long tests. `--all` includes long tests, and `--long` runs only these; file arguments run only
 * those files. The last line prints the totals. A signal stops the suites; the last line then states that the totals
 * are incomplete.
 */
const main = async (files: readonly string[]): Promise<void> => {
  const interruption = new AbortController()
  for (const signal of forwardedSignals) process.on(signal, () => interruption.abort(signal))
  const { signal } = interruption
  installServers()
  const totals = await runSelected(files, signal).catch((error: unknown) => {
    // The signal also stops the seeding of hosts, so its failure is not reported.
    if (signal.aborted) return noTotals
    throw error
  })
  if (signal.aborted) return reportInterruption(totals, signal.reason)
  if (totals.leftOut > 0) write(`${totals.leftOut} left out`)
  // With `CI` set, a skipped test counts as failed.
  const failed = totals.failed + (process.env.CI ? totals.leftOut : 0)
  write(`${totals.passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

const reportInterruption = ({ passed, failed }: Totals, reason: NodeJS.Signals): void => {
  write(`interrupted by ${reason}: ${passed} passed, ${failed} failed, the other tests did not finish`)
  process.exitCode = 128 + constants.signals[reason]
}

interface Run {
  /** Aborts when a signal stops the run. The reason is the name of the signal. */
  signal: AbortSignal
  /** The tag of tests to exclude. */
  unwanted?: string | undefined
  /** The tag of the only tests to run. */
  wanted?: string | undefined
}

const runSelected = async (files: readonly string[], signal: AbortSignal): Promise<Totals> => {
  if (files.includes('--long')) return runSuites({ signal, wanted: longTag })
  const isAll = files.includes('--all')
  if (files.length > 0 && !isAll) return runFiles(files, { signal })
  const run = { signal, unwanted: isAll ? undefined : longTag }
  return addTotals(await runSuites(run), await checkComponents(run))
}

/** Runs the service tests, then the browser tests. Run at the same time, they would slow each other down. */
const runSuites = async (run: Run): Promise<Totals> => {
  await using seeded = await seedHosts()
  const ofServices = await runFiles(['--project', 'services', '--project', 'recovery'], run, seeded.env)
  return addTotals(ofServices, await runFiles(['--project', 'web', '--project', 'browser'], run, seeded.env))
}

const runFiles = async (
  given: readonly string[],
  { signal, unwanted, wanted }: Run,
  variables = {},
): Promise<Totals> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-report-'))
  const report = join(directory, 'tests.json')
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'services/vitest.config.ts', ...given]
  if (unwanted) vitest.push(`--tags-filter=!${unwanted}`)
  if (wanted) vitest.push(`--tags-filter=${wanted}`)
  const env = { ...process.env, ...variables, TEST_REPORT: report }
  const exitCode = await node(vitest, signal, { env })
  const totals = await readTotals(report, { exitCode, unwanted, wanted, isInterrupted: signal.aborted })
  await rm(directory, { recursive: true })
  return totals
}

/** Checks types and accessibility of the Svelte components. The result counts as one test. */
const checkComponents = async ({ signal }: Run): Promise<Totals> => {
  write('svelte-check')
  // SvelteKit generates types into node_modules, which an installation removes.
  await node(['node_modules/@sveltejs/kit/svelte-kit.js', 'sync'], signal, { cwd: 'web' })
  const check = ['node_modules/svelte-check/bin/svelte-check', '--fail-on-warnings']
  const exitCode = await node(check, signal, { cwd: 'web' })
  if (signal.aborted) return noTotals
  return { ...noTotals, passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1 }
}

/**
 * Runs a Node script in the foreground and returns its exit code. After an interruption, returns 1 without running it.
 */
const node = async (rest: readonly string[], signal: AbortSignal, options: SpawnOptions): Promise<number> => {
  if (signal.aborted) return 1
  const child = spawn(process.execPath, rest, { stdio: 'inherit', ...options })
  const stop = () => void child.kill('SIGTERM')
  signal.addEventListener('abort', stop)
  await once(child, 'exit')
  signal.removeEventListener('abort', stop)
  return child.exitCode ?? 1
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)

await main(process.argv.slice(2))
