import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import packageFile from '../../../package.json' with { type: 'json' }
import { createProcessKeys } from '#shared/bus/testing/keys.ts'

/** An operating system process of the product. */
export interface ProductProcess extends AsyncDisposable {
  readonly pid: number
  /** The base URL of `/livez`, `/readyz` and `/metrics`. */
  readonly operationsUrl: string
  /** Returns the standard output and standard error so far. */
  output(): string
  /** Kills the process with SIGKILL, like a crash. */
  kill(): Promise<void>
  /** Restarts the process with the same variables and waits until it is ready. */
  restart(): Promise<void>
  /** Sends a signal and waits for the exit. Resolves with the exit code, the signal and the time that the exit took. */
  stop(signal?: NodeJS.Signals): Promise<ProcessExit>
}

export interface ProcessExit {
  code: number | null
  signal: NodeJS.Signals | null
  tookMs: number
}

/** Start options of a process. */
export interface ProcessOptions {
  /** Services to run. Default: all. */
  services: readonly string[]
  variables: Record<string, string>
  /** Port of the operations endpoints. Absent for a process that is expected to exit. */
  operationsPort?: number
  /** Path of a module, relative to the root of the repository, that is loaded before the product. */
  preload?: string
}

export const repositoryRoot = join(import.meta.dirname, '../../..')

const readyWithinMs = 120_000
const endsWithinMs = 40_000
const pollMs = 25
const outputKept = 1_000_000

/** Starts a process and waits until it is ready. Throws an error with its output if it does not become ready. */
export const startProcess = async (options: ProcessOptions & { operationsPort: number }): Promise<ProductProcess> => {
  const operationsUrl = `http://${options.variables.OPERATIONS_HOST ?? '127.0.0.1'}:${options.operationsPort}`
  let output = ''
  const run = () => spawnProduct(options, (text) => (output = (output + text).slice(-outputKept)))
  let child = run()
  const ready = async () => {
    try {
      await waitUntilReady(child, operationsUrl)
    } catch (error) {
      await end(child, 'SIGKILL')
      throw new Error(`${String(error)}; output:\n${output}`, { cause: error })
    }
  }
  await ready()
  return {
    get pid() {
      return child.pid ?? 0
    },
    operationsUrl,
    output: () => output,
    kill: async () => void (await end(child, 'SIGKILL')),
    restart: async () => {
      await end(child, 'SIGTERM')
      child = run()
      await ready()
    },
    stop: (signal = 'SIGTERM') => end(child, signal),
    [Symbol.asyncDispose]: async () => void (await end(child, 'SIGTERM')),
  }
}

/**
 * Runs a process that is expected to exit, for example because of invalid settings. Returns its output and exit code.
 */
export const runProcessToEnd = async (options: ProcessOptions): Promise<ProcessExit & { output: string }> => {
  let output = ''
  const child = spawnProduct(options, (text) => (output += text))
  const began = performance.now()
  const tooLong = AbortSignal.timeout(endsWithinMs)
  tooLong.addEventListener('abort', () => child.kill('SIGKILL'))
  await once(child, 'close')
  return { ...describeExit(child, began), output }
}

const spawnProduct = (
  { services, variables, operationsPort, preload }: ProcessOptions,
  onOutput: (text: string) => void,
): ChildProcess => {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    // Many tests spend most of their time starting processes, so compiled code is cached.
    ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
    NODE_ENV: 'production',
    MALLOC_ARENA_MAX: '2',
    OPERATIONS_HOST: '127.0.0.1',
    OPERATIONS_PORT: String(operationsPort ?? 0),
    ...(variables.NATS_URL && keysFor(services, variables)),
    ...variables,
  }
  const options = packageFile.config.nodeOptions.split(' ')
  const node = [
    process.execPath,
    ...options,
    ...(preload === undefined ? [] : ['--import', join(repositoryRoot, preload)]),
  ]
  const [program = process.execPath, ...rest] = [...parentDeathPrefix(), ...node, entry, ...services]
  const child = spawn(program, rest, { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput)
  return child
}

/** The bundle that users run, or the modules if there is none: without the set-up, and in copies of the repository. */
const { TEST_PRODUCT: bundle } = process.env
const entry = bundle !== undefined && existsSync(join(repositoryRoot, bundle)) ? bundle : 'services/main.ts'

const busSecret = randomBytes(32).toString('hex')

/** Returns the bus keys of a process with these services: the signing key for the gateway, call keys for others. */
const keysFor = (services: readonly string[], { SVC_QUERY_ROLE }: Record<string, string>): Record<string, string> => {
  const holders = services.map((name) => (name === 'query' && SVC_QUERY_ROLE === 'guest' ? 'query-guest' : name))
  return createProcessKeys(services.length === 0 ? ['gateway'] : holders, busSecret)
}

/**
 * Returns a command prefix that makes Linux kill the product when the test runner exits, even if the runner was killed.
 */
const parentDeathPrefix = (): string[] => {
  const program = '/usr/bin/setpriv'
  return existsSync(program) ? [program, '--pdeathsig', 'KILL', '--'] : []
}

const waitUntilReady = async (child: ChildProcess, operationsUrl: string): Promise<void> => {
  const until = performance.now() + readyWithinMs
  while (performance.now() < until) {
    if (hasEnded(child)) throw new Error('the product exited before it was ready')
    const answer = await fetch(`${operationsUrl}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    await wait(pollMs)
  }
  throw new Error(`the product was not ready within ${readyWithinMs} ms`)
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<ProcessExit> => {
  const began = performance.now()
  if (!hasEnded(child)) {
    const ended = once(child, 'close')
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), endsWithinMs)
    await ended
    clearTimeout(timer)
  }
  return describeExit(child, began)
}

const describeExit = (child: ChildProcess, began: number): ProcessExit => ({
  code: child.exitCode,
  signal: child.signalCode,
  tookMs: performance.now() - began,
})
