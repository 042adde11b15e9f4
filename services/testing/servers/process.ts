import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readlink, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { reserveFreePort } from './port.ts'
import type { TestServer } from './server.ts'

/** Environment variables. */
export type Environment = Readonly<Record<string, string>>

/** A server that is a child process. */
export interface ServerProcess extends TestServer {
  /** Restarts the server, with these additional variables until the next restart. */
  restart(environment?: Environment): Promise<void>
}

/** How to start a server as a child process. */
export interface ProcessLaunch {
  program: string
  /** Prepares the empty data directory before the first start. */
  prepare?(directory: string, port: number): Promise<void>
  arguments(directory: string, port: number): string[]
  url(port: number): string
  /** Resolves if the server at `url` responds; otherwise it rejects. */
  answers(url: string): Promise<void>
  /** The signal for a graceful shutdown. */
  stopSignal?: NodeJS.Signals
  user?: { uid: number; gid: number } | undefined
  /** Additional environment variables. */
  environment?: Environment
  readyWithinMs?: number
  /** The port. Default: a free one. */
  port?: number | undefined
}

const usuallyReadyWithinMs = 20_000
const stopWithinMs = 5_000
const pollMs = 20
const outputKept = 4_000
const parentDeath = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--']

/** Starts a server with its own data directory. Disposing stops it and removes the directory. */
export const startProcess = async (launch: ProcessLaunch): Promise<ServerProcess> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'watchhouse-test-')))
  const port = launch.port ?? (await reserveFreePort())
  const url = launch.url(port)
  let child: ChildProcess | undefined

  const start = async (environment: Environment = {}) => {
    child = await run({ ...launch, environment: { ...launch.environment, ...environment } }, directory, port)
  }
  const kill = async () => {
    await end(child, 'SIGKILL')
    await waitForWorkers(directory)
  }
  const stop = async () => {
    await end(child, launch.stopSignal ?? 'SIGTERM')
    await rm(directory, { recursive: true, force: true })
  }
  const restart = async (environment?: Environment) => {
    await end(child, launch.stopSignal ?? 'SIGTERM')
    await start(environment)
  }

  try {
    await launch.prepare?.(directory, port)
    await start()
  } catch (error) {
    await stop()
    throw error
  }
  return { url, kill, restart, stop, [Symbol.asyncDispose]: stop }
}

const run = async (launch: ProcessLaunch, directory: string, port: number): Promise<ChildProcess> => {
  const command = [...parentDeathPrefix(), launch.program, ...launch.arguments(directory, port)]
  const [program = launch.program, ...rest] = command
  // The server has its own process group, so that SIGKILL also reaches forked workers.
  const child = spawn(program, rest, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...launch.environment },
    ...launch.user,
  })
  let output = ''
  const keep = (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-outputKept))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const { readyWithinMs = usuallyReadyWithinMs } = launch
  const until = performance.now() + readyWithinMs
  while (performance.now() < until) {
    if (hasEnded(child)) throw new Error(`${launch.program} exited before it was ready; output:\n${output}`)
    try {
      await launch.answers(launch.url(port))
      return child
    } catch {
      await wait(pollMs)
    }
  }
  await end(child, 'SIGKILL')
  throw new Error(`${launch.program} did not respond within ${readyWithinMs} ms; output:\n${output}`)
}

/**
 * Returns a command prefix that makes Linux kill the server when the test runner exits, even if the runner was killed.
 */
const parentDeathPrefix = (): string[] => (existsSync('/usr/bin/setpriv') ? parentDeath : [])

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** Waits until the workers of a killed server have exited, because they hold resources that a restart needs. */
const waitForWorkers = async (directory: string): Promise<void> => {
  const until = performance.now() + stopWithinMs
  while ((await isInhabited(directory)) && performance.now() < until) await wait(pollMs)
}

/** Returns whether a process has its working directory in this directory; false on systems without `/proc`. */
const isInhabited = async (directory: string): Promise<boolean> => {
  const processes = existsSync('/proc') ? await readdir('/proc') : []
  const places = await Promise.all(processes.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
  return places.some((place) => place.startsWith(directory))
}

const end = async (child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> => {
  if (!child?.pid || hasEnded(child)) return
  const ended = once(child, 'exit')
  // Only SIGKILL goes to the whole process group. After other signals, the server stops its workers itself.
  process.kill(signal === 'SIGKILL' ? -child.pid : child.pid, signal)
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), stopWithinMs)
  await ended
  clearTimeout(timer)
}
