import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Benchmark } from './benchmark.ts'

const repetitions = 5
const root = fileURLToPath(new URL('../..', import.meta.url))
const baselineScript = fileURLToPath(new URL('minimal-startup.ts', import.meta.url))
const operationsPort = 19_464
const readyWithinMs = 60_000
/** Interval of readiness checks, in milliseconds. Polling without a pause would keep a CPU core busy. */
const pollMs = 20
const hosts = ['sandbox-1', 'sandbox-2']

/**
 * Measures how long a second `npm start` with sandboxes takes until `/readyz` succeeds. The reference is the minimum:
 * importing all modules and opening one session.
 */
export const startupTime: Benchmark = {
  name: 'start-time',
  async run() {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-bench-'))
    const sandboxes = join(directory, 'sandbox')
    await secondsToReady(sandboxes, () => hosts.every((host) => existsSync(join(sandboxes, host, 'seeded'))))
    await secondsToImport(join(directory, 'session'))
    const ours: number[] = []
    const reference: number[] = []
    for (let repetition = 0; repetition < repetitions; repetition++) {
      reference.push(await secondsToImport(join(directory, 'session')))
      ours.push(await secondsToReady(sandboxes))
    }
    await rm(directory, { recursive: true, force: true })
    return [{ name: 'npm start to /readyz', unit: 's', ours, reference, bar: { atMost: 3 } }]
  },
}

/** Returns the seconds until the product is ready. Stops it once `canStop` returns true, so that seeding can finish. */
const secondsToReady = async (sandboxes: string, canStop = () => true): Promise<number> => {
  const started = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: root,
    stdio: 'ignore',
    env: {
      ...omitHostVariables(process.env),
      PORT: '0',
      OPERATIONS_PORT: String(operationsPort),
      SVC_SANDBOX_DIRECTORY: sandboxes,
    },
  })
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`npm start failed: exit code ${child.exitCode}`)
    if (performance.now() - started > readyWithinMs)
      throw new Error(`npm start was not ready within ${readyWithinMs} ms`)
    await pause(pollMs)
  }
  const seconds = (performance.now() - started) / 1000
  while (!canStop()) await pause(pollMs)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return seconds
}

const isReady = async (): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${operationsPort}/readyz`)).ok
  } catch {
    return false
  }
}

/**
 * Returns the seconds that importing all modules and opening one session take. Each measurement needs a new process,
 * because a process imports modules only once.
 */
const secondsToImport = async (directory: string): Promise<number> => {
  const started = performance.now()
  const child = spawn(process.execPath, [baselineScript, directory], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`importing the modules failed: exit code ${code}`)
  return (performance.now() - started) / 1000
}

const omitHostVariables = ({ COLUMNDB_HOST: _hosts, SVC_HOSTS_FILE: _file, ...rest }: NodeJS.ProcessEnv) => rest
