import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { libchdbPath } from 'chdb/libchdb'
import { DataType, load, open } from 'ffi-rs'
import { ServiceError } from '#proto/errors.ts'
import type { HostDirectory } from './directory.ts'

/** A running engine. It runs as long as its process; `ended` resolves only when the engine ends by itself. */
export interface Engine {
  port: number
  ended: Promise<void>
}

const START_LIMIT_MS = 60_000
const POLL_INTERVAL_MS = 5
const LIBRARY = 'chdb'

/** Loads the library. Every other function of this file needs it. */
export function openLibrary(): void {
  open({ library: LIBRARY, path: libchdbPath() })
}

/**
 * Runs the engine of chDB in this process and returns when it listens. Its command-line form is used instead of the
 * package's sessions because it brings the server's own HTTP handlers, users and log tables. The engine executes the
 * start file, then waits to read a second file: a pipe without a writer, so the engine runs until its process ends.
 */
export async function openEngine(directory: HostDirectory): Promise<Engine> {
  const idle = openPipe()
  const ended = runCommandLine([
    'clickhouse',
    '--path',
    directory.data,
    `--config-file=${directory.configurationFile}`,
    '--queries-file',
    directory.startFile,
    `/dev/fd/${idle.readEnd}`,
  ])
  const early = ended.then(() => {
    throw new ServiceError('unavailable', `the engine ended before it listened; see ${directory.logFile}`)
  })
  const port = await Promise.race([awaitPort(directory.portFile), early])
  early.catch(() => undefined)
  return { port, ended }
}

/**
 * Ends the process with its engine immediately. A shutdown of the engine takes three seconds and saves nothing more:
 * inserts return after their parts are written, and the logs are already flushed.
 */
export function leave(code: number): void {
  load({ library: LIBRARY, funcName: '_exit', retType: DataType.Void, paramsType: [DataType.I32], paramsValue: [code] })
}

// The engine checks the depth of its stack, so it needs a separate thread with an ordinary stack.
async function runCommandLine(words: string[]): Promise<void> {
  await load({
    library: LIBRARY,
    funcName: 'chdb_query_cmdline',
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [words.length, words],
    runInNewThread: true,
  })
}

// Node has no function that creates a pipe; the library depends on libc, so its symbols include `pipe`.
function openPipe(): { readEnd: number } {
  const ends = Buffer.alloc(8)
  const result = load({
    library: LIBRARY,
    funcName: 'pipe',
    retType: DataType.I32,
    paramsType: [DataType.U8Array],
    paramsValue: [ends],
  })
  if (result !== 0) throw new Error('creating a pipe failed')
  return { readEnd: ends.readInt32LE(0) }
}

async function awaitPort(portFile: string): Promise<number> {
  const deadline = performance.now() + START_LIMIT_MS
  while (performance.now() < deadline) {
    const text = existsSync(portFile) ? readFileSync(portFile, 'utf8') : ''
    if (text.endsWith('\n')) return Number(text)
    await pause(POLL_INTERVAL_MS)
  }
  throw new Error(`the engine did not listen within ${START_LIMIT_MS} ms`)
}
