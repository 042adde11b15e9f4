import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findFaketimeLibrary } from '../../testing/servers/faketime.ts'
import { findProgram } from '../../testing/servers/server-source.ts'
import { installServers } from '../../testing/servers/install.ts'

/**
 * Variables for longer runs: more schedules, alerts, busy processes and kills. With `CI` set, a suite without its
 * servers fails instead of being skipped.
 */
const longForm = {
  CI: '1',
  FAULTS_RUNS: '12',
  FAULTS_SCHEDULES: '2000',
  FAULTS_ALERTS: '40',
  FAULTS_BUSY: '50',
  TEST_DELIVERY_KILLS: '16',
  TEST_INGEST_KILLS: '8',
}

/** Runs all fault tests with the variables for longer runs. Arguments select test files. */
const main = async (files: readonly string[]): Promise<void> => {
  installServers()
  installServers([{ title: 'libfaketime', debian: 'faketime', isThere: () => findFaketimeLibrary() !== undefined }])
  installServers([
    { title: 'Prometheus', debian: 'prometheus', isThere: () => findProgram('prometheus') !== undefined },
  ])
  const config = 'services/acceptance/faults/vitest.config.ts'
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, ...files]
  const env = { ...longForm, ...process.env }
  const child = spawn(process.execPath, vitest, { stdio: 'inherit', env })
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
}

await main(process.argv.slice(2))
