import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { libchdbPath } from 'chdb/libchdb'
import { DataType, load, open } from 'ffi-rs'
import { ServiceError } from '#proto/errors.ts'
import type { HostDirectory } from './directory.ts'

/** A running engine. It lives as long as its process; `ended` is fulfilled only if it gives up by itself. */
export interface Engine {
  port: number
  ended: Promise<void>
}

const START_LIMIT_MS = 60_000
const POLL_INTERVAL_MS = 5
const LIBRARY = 'chdb'

/** Loads the library, which every other function of this file needs. */
export function openLibrary(): void {
  open({ library: LIBRARY, path: libchdbPath() })
}

/**
 * Runs the engine of chDB in this process and returns when it listens. Its command-line form is used instead of the
 * package's sessions because it brings the server's own HTTP handlers, users and log tables. The engine executes the
 * start file, then waits to read a second file: a pipe that nobody writes to, so it serves for good.
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
 * Ends the process at once with the engine in it. Its own shutdown takes three seconds to save nothing more: parts are
 * written whole before an insert is answered, and the logs have been flushed before.
 */
export function leave(code: number): void {
  load({ library: LIBRARY, funcName: '_exit', retType: DataType.Void, paramsType: [DataType.I32], paramsValue: [code] })
}

// On a thread of its own with an ordinary stack: the engine checks the depth of the stack it runs on.
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

// Node has no call for a bare pipe; libc's is found among the symbols the library depends on.
function openPipe(): { readEnd: number } {
  const ends = Buffer.alloc(8)
  const result = load({
    library: LIBRARY,
    funcName: 'pipe',
    retType: DataType.I32,
    paramsType: [DataType.U8Array],
    paramsValue: [ends],
  })
  if (result !== 0) throw new Error('the system refused a pipe')
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
