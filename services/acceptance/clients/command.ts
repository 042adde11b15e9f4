import { spawn } from 'node:child_process'
import { once } from 'node:events'

const maxTailLength = 4_000

/** Runs a program in a folder and returns its output; throws with the end of the output if it fails. */
export const runCommand = async (
  directory: string,
  [program = '', ...rest]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const child = spawn(program, rest, { cwd: directory, env: { ...process.env, ...env }, timeout: 900_000 })
  const output: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => output.push(piece))
  child.stderr.on('data', (piece: Buffer) => output.push(piece))
  const [code] = await once(child, 'close')
  const text = Buffer.concat(output).toString('utf8')
  if (code === 0) return text
  throw new Error(`"${[program, ...rest].join(' ')}" exited with code ${code}: ${text.slice(-maxTailLength)}`)
}
