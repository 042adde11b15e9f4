import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installServers } from './servers/install.ts'
import { addTotals, readTotals } from './totals.ts'

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Every suite, or with arguments those test files alone; the last line counts them all. */
const main = async (files: readonly string[]): Promise<void> => {
  installServers()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-report-'))
  const report = join(directory, 'tests.json')
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'services/vitest.config.ts', ...files]
  let totals = await readTotals(report, await node(vitest, { env: { ...process.env, TEST_REPORT: report } }))
  await rm(directory, { recursive: true })
  if (files.length === 0) totals = addTotals(totals, await checkComponents())
  if (totals.leftOut > 0) write(`${totals.leftOut} left out`)
  // Where nobody reads along, what was left out has not passed.
  if (process.env.CI) totals = { ...totals, failed: totals.failed + totals.leftOut }
  write(`${totals.passed} passed, ${totals.failed} failed`)
  process.exitCode = totals.failed === 0 ? 0 : 1
}

/** Types and accessibility of the web's components, counted as one check. */
const checkComponents = async () => {
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
