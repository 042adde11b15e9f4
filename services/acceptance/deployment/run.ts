import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, globSync } from 'node:fs'
import { installServers } from '../../testing/servers/install.ts'

/** Runs suites against the processes that the chart renders. Without arguments, runs all suites with topologies. */
const main = async (named: readonly string[]): Promise<void> => {
  installServers()
  const suites = named.length > 0 ? named : onTopologies()
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'services/vitest.config.ts']
  const child = spawn(process.execPath, [...vitest, '--project', 'services', '--maxWorkers=1', ...suites], {
    stdio: 'inherit',
    env: { ...process.env, TEST_TOPOLOGY: 'chart' },
  })
  await once(child, 'exit')
  process.exitCode = child.exitCode ?? 1
}

const onTopologies = (): string[] =>
  globSync('services/acceptance/*.test.ts').filter((file) =>
    readFileSync(file, 'utf8').includes('describeOnTopologies('),
  )

await main(process.argv.slice(2))
