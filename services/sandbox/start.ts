import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { listUsers } from './users.ts'

/**
 * Options of a sandbox host. Without `directory`, the host uses a temporary directory, which is removed when the host
 * is disposed.
 */
export interface SandboxOptions {
  directory?: string
  /** The directory of a stopped host, whose data is copied. */
  copyOf?: string
  label?: string
  port?: number
  /** Whether to fill an empty directory with example data and a few days of history, in the background. */
  seed?: boolean
  /** The password of the user `watchhouse`. */
  password?: string
}

/** A running sandbox host in a separate process, which ends when it is disposed or when this process ends. */
export interface Sandbox extends AsyncDisposable {
  url: string
  pid: number
  users: { user: string; password: string }[]
  /** Resolves when the example data is complete; immediately without seeding or if the data already exists. */
  seeded: Promise<void>
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 5000
const ERROR_TAIL_BYTES = 2000
const HOST = fileURLToPath(new URL('host.ts', import.meta.url))
const Line = z.object({ listening: z.object({ url: z.url() }).optional(), seeded: z.literal(true).optional() })

/** Starts a host and resolves when it accepts queries. If it cannot start, rejects with its error output. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'watchhouse-sandbox-'))
  // Symbolic links are copied unchanged, so that they do not point into the original directory.
  if (options.copyOf !== undefined) cpSync(options.copyOf, directory, { recursive: true, verbatimSymlinks: true })
  const password = options.password ?? 'watchhouse'
  const child = spawnHost({ ...options, directory, password })
  const dispose = async (): Promise<void> => {
    // The data in a temporary directory is removed, so the host does not need to save it.
    await endHost(child, options.directory === undefined ? 'SIGKILL' : 'SIGTERM')
    if (options.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
  try {
    const { url, seeded } = await readHostOutput(child)
    const users = listUsers(password).map(({ user, password: secret }) => ({ user, password: secret }))
    return { url, pid: child.pid ?? 0, users, seeded, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

function spawnHost({ directory, label = 'sandbox', port = 0, seed = false, password }: SandboxOptions): ChildProcess {
  const words = ['--directory', directory ?? '', '--label', label, '--port', String(port), ...(seed ? ['--seed'] : [])]
  return spawn(process.execPath, [HOST, ...words], {
    // The IPC channel closes when this process ends, which stops the host. The output is read line by line.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A separate process group, because SYSTEM SHUTDOWN signals the whole group.
    detached: true,
    env: { ...process.env, SANDBOX_PASSWORD: password },
  })
}

async function readHostOutput(child: ChildProcess): Promise<{ url: string; seeded: Promise<void> }> {
  const listening = Promise.withResolvers<string>()
  const seeded = Promise.withResolvers<void>()
  // Prevents an unhandled rejection if no caller awaits the data; `listening` reports a failed start.
  seeded.promise.catch(() => undefined)
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (errors = (errors + chunk).slice(-ERROR_TAIL_BYTES)))
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (text) => {
    if (!text.startsWith('{')) return
    const line = Line.parse(JSON.parse(text))
    if (line.listening) listening.resolve(line.listening.url)
    if (line.seeded) seeded.resolve()
  })
  const fail = (reason: string): void => {
    const error = new Error(`the sandbox host ${reason}\n${errors}`.trim())
    listening.reject(error)
    seeded.reject(error)
  }
  child.once('error', (error) => fail(`cannot be started: ${error.message}`))
  child.once('close', (code, signal) => fail(`exited (${signal ?? code})`))
  const limit = setTimeout(() => fail(`did not listen within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS)
  const url = await listening.promise.finally(() => clearTimeout(limit))
  return { url, seeded: seeded.promise }
}

async function endHost(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  const cutOff = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  child.kill(signal)
  await gone
  clearTimeout(cutOff)
}
