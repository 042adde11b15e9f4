import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { libchdbPath } from 'chdb/libchdb'
import { DataType, load, open } from 'ffi-rs'
import { ServiceError } from '#proto/errors.ts'
import type { HostDirectory } from './directory.ts'

/** A running engine, which normally exits with its process. `ended` resolves if the engine exits earlier. */
export interface Engine {
  port: number
  ended: Promise<void>
}

const START_TIMEOUT_MS = 60_000
const POLL_INTERVAL_MS = 5
const LIBRARY = 'chdb'

/** Loads the engine library, which all other functions of this file require. */
export function loadEngineLibrary(): void {
  open({ library: LIBRARY, path: libchdbPath() })
}

/**
 * Starts the engine of chDB in this process and resolves when it listens. The command-line interface is used instead of
 * sessions, because it includes the HTTP handlers, users and log tables of the server. The engine executes the start
 * file, then reads a pipe to which nothing is written, so it runs until its process ends.
 */
export async function startEngine(directory: HostDirectory): Promise<Engine> {
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
    throw new ServiceError('unavailable', `the engine exited before it accepted connections; see ${directory.logFile}`)
  })
  const port = await Promise.race([awaitPort(directory.portFile), early])
  early.catch(() => undefined)
  return { port, ended }
}

/**
 * Ends the process immediately, without shutting down the engine. A shutdown takes three seconds and saves no
 * additional data: inserts return after their parts are written, and the logs are already flushed.
 */
export function exitImmediately(code: number): void {
  load({ library: LIBRARY, funcName: '_exit', retType: DataType.Void, paramsType: [DataType.I32], paramsValue: [code] })
}

// Runs the command-line interface in a new thread, because the engine checks its stack and needs an ordinary one.
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

// Calls `pipe` of libc, on which the library depends, because Node has no function that creates a pipe.
function openPipe(): { readEnd: number } {
  const ends = Buffer.alloc(8)
  const result = load({
    library: LIBRARY,
    funcName: 'pipe',
    retType: DataType.I32,
    paramsType: [DataType.U8Array],
    paramsValue: [ends],
  })
  if (result !== 0) throw new Error(`cannot create a pipe: pipe() returned ${String(result)}`)
  return { readEnd: ends.readInt32LE(0) }
}

async function awaitPort(portFile: string): Promise<number> {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    const text = existsSync(portFile) ? readFileSync(portFile, 'utf8') : ''
    if (text.endsWith('\n')) return Number(text)
    await pause(POLL_INTERVAL_MS)
  }
  throw new Error(`the engine did not accept connections within ${START_TIMEOUT_MS} ms`)
}
