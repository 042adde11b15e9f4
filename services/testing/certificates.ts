import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A private certificate authority with one server certificate, all in PEM. */
export interface Authority extends AsyncDisposable {
  /** The path of the certificate of the authority. */
  path: string
  certificate: string
  key: string
  /** The paths of the server certificate and its key. */
  certificatePath: string
  keyPath: string
}

/** Creates a certificate authority and a server certificate for `localhost`, with the commands of a shell script. */
export const createAuthority = async (script: string): Promise<Authority> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-authority-'))
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory })
  const [certificatePath, keyPath] = [join(directory, 'tls.crt'), join(directory, 'tls.key')]
  return {
    path: join(directory, 'ca.crt'),
    certificate: await readFile(certificatePath, 'utf8'),
    key: await readFile(keyPath, 'utf8'),
    certificatePath,
    keyPath,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}
