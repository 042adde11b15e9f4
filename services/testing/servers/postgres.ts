import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chown, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startContainer } from './container.ts'
import { startProcess } from './process.ts'
import { type ServerOptions, type TestServer, createExternalServer } from './server.ts'
import { requireServerSource } from './server-source.ts'

const user = 'watchhouse'
const password = 'watchhouse'
const connectWithinMs = 2_000

export interface PostgresOptions extends ServerOptions {
  /** Libraries to preload, such as `pg_stat_statements`. Implies a private server. */
  preload?: readonly string[]
  /** A certificate and its key, in PEM, for connections with TLS. Implies a private server; needs a local program. */
  tls?: { certificate: string; key: string }
}

/** Starts PostgreSQL with an empty database. If an address variable is set, creates a new database on that server. */
export const startPostgres = async ({ preload = [], private: own, tls }: PostgresOptions = {}): Promise<TestServer> => {
  const source = requireServerSource('postgres', own ?? (preload.length > 0 || tls !== undefined))
  const libraries = ['-c', `shared_preload_libraries=${preload.join(',')}`]
  if ('url' in source) return createDatabase(source.url)
  const url = (port: number) => `postgres://${user}:${password}@127.0.0.1:${port}/postgres`
  const answers = (address: string) => run(address, 'SELECT 1')
  if ('image' in source) {
    if (tls) throw new Error('PostgreSQL with TLS needs a local program; install postgres')
    const environment = { POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: 'postgres' }
    return startContainer({
      image: source.image,
      port: 5432,
      environment,
      command: ['postgres', ...libraries],
      url,
      answers,
    })
  }
  const runAs = process.getuid?.() === 0 ? findUnprivilegedUser() : undefined
  return startProcess({
    program: source.program,
    user: runAs,
    stopSignal: 'SIGINT',
    prepare: async (directory) => {
      if (runAs) await chown(directory, runAs.uid, runAs.gid)
      const options = [
        '-D',
        join(directory, 'data'),
        '-U',
        user,
        '-E',
        'UTF8',
        '--locale=C',
        '-A',
        'trust',
        '--no-sync',
      ]
      await promisify(execFile)(join(dirname(source.program), 'initdb'), options, { ...runAs, cwd: directory })
      if (tls) await writeCertificate(join(directory, 'data'), tls, runAs)
    },
    arguments: (directory, port) => [...serverOptions(directory, port), ...libraries, ...(tls ? tlsOptions : [])],
    url,
    answers,
  })
}

/** Returns the server arguments. `-F` disables fsync, which only a crash of the machine would require. */
const serverOptions = (directory: string, port: number): string[] => [
  '-D',
  join(directory, 'data'),
  '-h',
  '127.0.0.1',
  '-p',
  String(port),
  '-k',
  '',
  '-F',
]

/** The default paths of certificate and key are in the data directory. */
const tlsOptions = ['-c', 'ssl=on']

const writeCertificate = async (
  directory: string,
  { certificate, key }: { certificate: string; key: string },
  owner: { uid: number; gid: number } | undefined,
): Promise<void> => {
  const [certificateFile, keyFile] = [join(directory, 'server.crt'), join(directory, 'server.key')]
  await writeFile(certificateFile, certificate)
  // PostgreSQL rejects a key that others can read.
  await writeFile(keyFile, key, { mode: 0o600 })
  if (!owner) return
  for (const file of [certificateFile, keyFile]) await chown(file, owner.uid, owner.gid)
}

const run = async (url: string, statement: string): Promise<void> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectWithinMs })
  // Ignores the error event of a server that stops during the query, because the query rejects too.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end()
  }
}

const createDatabase = async (server: string): Promise<TestServer> => {
  const name = `watchhouse_test_${randomUUID().replaceAll('-', '')}`
  await run(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return createExternalServer(url.href, () => run(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
}

/**
 * Returns a user to run PostgreSQL, which refuses to run as root. Packages create `postgres`; `nobody` always exists.
 */
const findUnprivilegedUser = (): { uid: number; gid: number } => {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      continue
    }
  }
  throw new Error('PostgreSQL does not run as root; create a user "postgres" or "nobody"')
}
