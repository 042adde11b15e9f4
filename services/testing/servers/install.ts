import { spawnSync } from 'node:child_process'
import { chromiumProgram } from './chromium.ts'
import { findProgram, sourceOf } from './source.ts'

/** What Debian packages can bring. */
export interface Wanted {
  title: string
  debian: string
  isThere: () => boolean
}

const wanted: readonly Wanted[] = [
  { title: 'NATS', debian: 'nats-server', isThere: () => sourceOf('nats') !== undefined },
  { title: 'Redis', debian: 'redis-server', isThere: () => sourceOf('redis') !== undefined },
  { title: 'PostgreSQL', debian: 'postgresql', isThere: () => sourceOf('postgres') !== undefined },
  { title: 'Chromium', debian: 'chromium-headless-shell', isThere: () => chromiumProgram() !== undefined },
]

const commandWithinMs = 600_000

/** Installs the servers and the browser that tests need and this machine lacks, where this user may install packages. */
export const installServers = (needed = wanted): void => {
  const missing = needed.filter((one) => !one.isThere())
  if (missing.length === 0) return
  const become = mayInstall()
  if (become) {
    run('reading the package lists', [...become, ...aptGet, 'update'])
    for (const { title, debian } of missing) {
      run(`installing ${title}`, [...become, ...aptGet, 'install', '--no-install-recommends', debian])
    }
  }
  // Ubuntu has Chromium only as a snap, which a container cannot run.
  if (missing.some(({ title }) => title === 'Chromium') && !chromiumProgram()) {
    const own = ['node_modules/playwright-core/cli.js', 'install', ...(become ? ['--with-deps'] : []), 'chromium']
    run('fetching Chromium', [process.execPath, ...own])
  }
  for (const { title } of missing.filter((one) => !one.isThere())) {
    say(`LEFT OUT: no ${title} on this machine, and it could not be installed`)
  }
}

const aptGet = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-y']

/** What to put before a command that needs root; undefined when there is no way that asks for no password. */
const mayInstall = (): string[] | undefined => {
  if (!findProgram('apt-get')) return undefined
  if (process.getuid?.() === 0) return []
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined
}

const run = (title: string, [program = '', ...rest]: readonly string[]): void => {
  say(`For the tests: ${title} …`)
  const { status } = spawnSync(program, rest, { stdio: ['ignore', 'inherit', 'inherit'], timeout: commandWithinMs })
  if (status !== 0) say(`${title} failed: ${[program, ...rest].join(' ')} ended with ${status}`)
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)
