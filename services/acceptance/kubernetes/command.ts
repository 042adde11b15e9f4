import { execFile } from 'node:child_process'

export interface CommandOptions {
  /** The text for the standard input. */
  input?: string | undefined
  directory?: string
  environment?: Readonly<Record<string, string>>
  timeoutMs?: number
}

const maxOutputBytes = 64 * 1024 * 1024
const maxErrorLength = 2_000
const maxCommandLength = 300
const usualTimeoutMs = 300_000

/** Runs a program and returns its output. Throws its error output if it fails or takes too long. */
export const runCommand = (
  [program = '', ...words]: readonly string[],
  { input, directory, environment, timeoutMs = usualTimeoutMs }: CommandOptions = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, ...environment }
    const options = { cwd: directory, env, timeout: timeoutMs, maxBuffer: maxOutputBytes }
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      const ending = error.killed ? `took longer than ${timeoutMs} ms` : `exited with code ${error.code}`
      const command = words.join(' ').slice(-maxCommandLength)
      reject(new Error(`${program} ${ending}: ${`${stdout}${stderr}`.trim().slice(-maxErrorLength)} (… ${command})`))
    })
    // A program that ends before it has read its input closes the pipe.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
