import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seedHosts } from './seeded.ts'
import { installServers } from './servers/install.ts'
import { addTotals, readTotals, type Totals } from './totals.ts'

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The tag of faults, fuzz, soak and whole catalogues, which `.ci/run` adds. */
const long = 'long'

/** Every suite without its long tests, with `--all` those too, or with arguments these test files; the last line counts. */
const main = async (files: readonly string[]): Promise<void> => {
  installServers()
  const isAll = files.includes('--all')
  const totals = files.length > 0 && !isAll ? await runFiles(files) : await runAll(isAll ? undefined : long)
  if (totals.leftOut > 0) write(`${totals.leftOut} left out`)
  // Where nobody reads along, what was left out has not passed.
  const failed = totals.failed + (process.env.CI ? totals.leftOut : 0)
  write(`${totals.passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

/** Browsers and the product that they look at wait for each other; meanwhile the services' tests have the other core. */
const runAll = async (unwanted?: string): Promise<Totals> => {
  await using seeded = await seedHosts()
  const all = await Promise.all([
    runFiles(['--project', 'services'], seeded.env, unwanted),
    runFiles(['--project', 'web', '--project', 'browser'], seeded.env, unwanted),
    checkComponents(),
  ])
  return all.reduce(addTotals)
}

const runFiles = async (given: readonly string[], variables = {}, unwanted?: string): Promise<Totals> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-report-'))
  const report = join(directory, 'tests.json')
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'services/vitest.config.ts', ...given]
  if (unwanted) vitest.push(`--tags-filter=!${unwanted}`)
  const totals = await readTotals(
    report,
    await node(vitest, { env: { ...process.env, ...variables, TEST_REPORT: report } }),
    unwanted,
  )
  await rm(directory, { recursive: true })
  return totals
}

/** Types and accessibility of the web's components, counted as one check. */
const checkComponents = async (): Promise<Totals> => {
  write('svelte-check')
  // SvelteKit keeps generated types in node_modules, where an installation removes them.
  await node(['node_modules/@sveltejs/kit/svelte-kit.js', 'sync'], { cwd: 'web' })
  const code = await node(['node_modules/svelte-check/bin/svelte-check', '--fail-on-warnings'], { cwd: 'web' })
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, leftOut: 0 }
}

const node = async (rest: readonly string[], options: SpawnOptions): Promise<number> => {
  const child = spawn(process.execPath, rest, { stdio: 'inherit', ...options })
  const stop = () => void child.kill('SIGTERM')
  for (const signal of forwarded) process.on(signal, stop)
  await once(child, 'exit')
  for (const signal of forwarded) process.off(signal, stop)
  return child.exitCode ?? 1
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)

await main(process.argv.slice(2))
