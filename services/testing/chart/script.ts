import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../source-file.ts'

/** Runs a script of `helm/files` as its container does. Returns its output; rejects if the script fails. */
export const runChartScript = async (name: string, variables: Record<string, string>): Promise<string> => {
  const script = await readFile(join(root, 'helm/files', name), 'utf8')
  const given = ['--input-type=module-typescript', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, given, { env: variables })
  return stdout
}
