import { spawnSync } from 'node:child_process'
import { findChromium } from './chromium.ts'
import { findProgram, findServerSource } from './server-source.ts'

/** A program that tests need, with the Debian package that provides it. */
export interface TestProgram {
  title: string
  debian: string
  isThere: () => boolean
}

const testPrograms: readonly TestProgram[] = [
  { title: 'NATS', debian: 'nats-server', isThere: () => findServerSource('nats') !== undefined },
  { title: 'Redis', debian: 'redis-server', isThere: () => findServerSource('redis') !== undefined },
  { title: 'PostgreSQL', debian: 'postgresql', isThere: () => findServerSource('postgres') !== undefined },
  { title: 'Chromium', debian: 'chromium-headless-shell', isThere: () => findChromium() !== undefined },
]

const commandWithinMs = 600_000

/** Installs missing servers and the browser for tests, if this user can install packages without a password. */
export const installServers = (needed = testPrograms): void => {
  const missing = needed.filter((one) => !one.isThere())
  if (missing.length === 0) return
  const become = rootPrefix()
  if (become) {
    run('reading the package lists', [...become, ...aptGet, 'update'])
    for (const { title, debian } of missing) {
      run(`installing ${title}`, [...become, ...aptGet, 'install', '--no-install-recommends', debian])
    }
  }
  // Ubuntu provides Chromium only as a snap, which does not run in a container.
  if (missing.some(({ title }) => title === 'Chromium') && !findChromium()) {
    const own = ['node_modules/playwright-core/cli.js', 'install', ...(become ? ['--with-deps'] : []), 'chromium']
    run('fetching Chromium', [process.execPath, ...own])
  }
  for (const { title } of missing.filter((one) => !one.isThere())) {
    print(`cannot install ${title}: tests that need it are skipped`)
  }
}

/** Waits for other installations, because Debian allows only one at a time. */
const aptGet = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-y', '-o', 'DPkg::Lock::Timeout=300']

/** Returns the prefix for commands that need root; undefined if this user cannot become root without a password. */
const rootPrefix = (): string[] | undefined => {
  if (!findProgram('apt-get')) return undefined
  if (process.getuid?.() === 0) return []
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined
}

const run = (title: string, [program = '', ...rest]: readonly string[]): void => {
  print(`For the tests: ${title} …`)
  const { status } = spawnSync(program, rest, { stdio: ['ignore', 'inherit', 'inherit'], timeout: commandWithinMs })
  if (status !== 0) print(`${title} failed: "${[program, ...rest].join(' ')}" exited with code ${status}`)
}

const print = (line: string): void => void process.stderr.write(`${line}\n`)
