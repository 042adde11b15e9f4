#!/usr/bin/env node
import packageFile from '../../package.json' with { type: 'json' }
import { exitCodes } from './exit-codes.ts'
import { runCommandLine } from './program.ts'

const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // A second signal ends the process at once, in case the server does not respond to the cancellation.
  process.once(signal, () => ended.abort(new Error(`ended by ${signal}`)))
}
// A program such as `head` closes the pipe when it has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  ended.abort(error)
})

process.exitCode = await runCommandLine(
  {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    version: packageFile.version,
    signal: ended.signal,
    setExitCode: (code) => void (process.exitCode = code),
  },
  process.argv.slice(2),
)
if (ended.signal.aborted && process.exitCode === exitCodes.ok) process.exitCode = exitCodes.interrupted
