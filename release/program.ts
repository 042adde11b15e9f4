import { execFile } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { findProgram } from '../services/testing/servers/server-source.ts'
import { root } from '../services/testing/source-file.ts'

/** The longest program is the build of the image. */
const maxRunMs = 3_600_000
const maxOutputBytes = 64 * 1024 * 1024
/** Lines of a failed program that are shown. The reason is at the end. */
const shownLines = 60

const Failure = z.object({ stdout: z.string(), stderr: z.string() })

/** Runs a program in the root of the repository and returns its standard output. Throws the end of its output if it fails. */
export const runProgram = async (name: string, parameters: readonly string[]): Promise<string> =>
  (await runForOutput(name, parameters)).stdout

/** Runs a program in the root of the repository and returns both of its outputs. */
export const runForOutput = async (
  name: string,
  parameters: readonly string[],
): Promise<{ stdout: string; stderr: string }> => {
  try {
    return await promisify(execFile)(requireProgram(name), parameters, {
      cwd: root,
      maxBuffer: maxOutputBytes,
      timeout: maxRunMs,
    })
  } catch (error) {
    const { data } = Failure.safeParse(error)
    if (data === undefined) throw error
    const lines = `${data.stdout}${data.stderr}`.trimEnd().split('\n').slice(-shownLines)
    throw new FailedChecks(`"${name} ${parameters.slice(0, 2).join(' ')}" failed:\n${lines.join('\n')}`)
  }
}

/** Returns the path of a program. Throws if it is not installed. */
export const requireProgram = (name: string): string => {
  const program = isAbsolute(name) ? name : findProgram(name)
  if (program !== undefined) return program
  const remedy = name === 'helm' ? 'run .ci/chart-tools' : 'install it'
  throw new FailedChecks(`program "${name}" not found; ${remedy}`)
}

/** A release that cannot be made, with all known reasons as its message. */
export class FailedChecks extends Error {}

/** Throws `FailedChecks` if there are problems. */
export const requireNone = (problems: readonly string[]): void => {
  if (problems.length > 0) throw new FailedChecks(problems.join('\n'))
}

/** Runs one step of the release and prints its title, its duration and whether it failed. Rethrows its error. */
export const runStep = async <T>(title: string, work: () => Promise<T>): Promise<T> => {
  const startedMs = performance.now()
  // The last line of the step replaces this one.
  if (process.stdout.isTTY) process.stdout.write(`${'…'.padEnd(8)}${title}\r`)
  const end = (word: string) => {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    process.stdout.write(`${word.padEnd(8)}${title} (${seconds} s)\n`)
  }
  try {
    const result = await work()
    end('ok')
    return result
  } catch (error) {
    end('FAILED')
    throw error
  }
}
