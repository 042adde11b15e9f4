import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import { installServers } from '../../testing/servers/install.ts'
import { findProgram } from '../../testing/servers/server-source.ts'

const config = 'services/acceptance/attacks/vitest.config.ts'
/** Path prefix of the tests that depend on the NATS version. */
const natsTestPrefixes = ['services/acceptance/attacks/nats-']

/**
 * Runs all attacks with the installed NATS server. Runs the NATS attacks also with each server program in
 * TEST_NATS_SERVERS, a comma-separated list. Arguments select test files.
 */
const main = async (files: readonly string[]): Promise<void> => {
  installServers()
  const named = (process.env.TEST_NATS_SERVERS ?? '').split(',').filter((program) => program !== '')
  const programs = [findProgram('nats-server'), ...named].filter((program) => program !== undefined)
  if (programs.length === 0) throw new Error('no NATS server found; install nats-server or set TEST_NATS_SERVERS')
  for (const [index, program] of programs.entries()) {
    process.stdout.write(`Attacks with ${program} …\n`)
    const path = [dirname(program), process.env.PATH].join(delimiter)
    const chosen = index > 0 && files.length === 0 ? natsTestPrefixes : files
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, ...chosen]
    // With `CI` set, a suite without its servers fails instead of being skipped.
    const env = { CI: '1', ...process.env, PATH: path }
    const child = spawn(process.execPath, vitest, { stdio: 'inherit', env })
    const [code] = await once(child, 'exit')
    if (code !== 0) process.exitCode = 1
  }
}

await main(process.argv.slice(2))
