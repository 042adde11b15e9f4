import { once } from 'node:events'
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

/** A host whose users are no files, as those of the embedded engine are. */
export interface ManagedHost extends AsyncDisposable {
  readonly url: string
  /** Statements that would have changed users, roles or grants. */
  readonly changes: readonly string[]
}

/** The tables in which the engine would keep them, each as the engine has it. */
const kept = ['users', 'roles', 'role_grants', 'grants'] as const
const statements = [
  'CREATE DATABASE managed',
  ...kept.map((table) => `CREATE TABLE managed.${table} AS system.${table} ENGINE = Memory`),
  `INSERT INTO managed.users (name, storage, auth_type, host_ip) VALUES ('ann', 'local_directory', ['sha256_password'], ['::/0']), ('default', 'users_xml', ['no_password'], ['::/0'])`,
  `INSERT INTO managed.roles (name, storage) VALUES ('reader', 'local_directory')`,
  `INSERT INTO managed.role_grants (user_name, granted_role_name) VALUES ('ann', 'reader')`,
  `INSERT INTO managed.grants (role_name, access_type, database) VALUES ('reader', 'SELECT', 'shop')`,
]

/** Stands before an engine: what reads passes, what would change users is kept and said to be done. */
export const startManagedHost = async (engineUrl: string): Promise<ManagedHost> => {
  for (const statement of statements) {
    const answer = await fetch(engineUrl, { method: 'POST', body: statement })
    if (!answer.ok) throw new Error(await answer.text())
  }
  const changes: string[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sql = await text(request)
    if (/^\s*(CREATE|ALTER|DROP|GRANT|REVOKE)\b/.test(sql)) {
      changes.push(sql)
      response.end()
      return
    }
    const told = sql.replaceAll(/\bsystem\.(users|roles|role_grants|grants)\b/g, 'managed.$1')
    const answer = await forward(engineUrl, request, told)
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    await pipeline(answer, response)
  }
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server's address is always this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    changes,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const forward = (
  engineUrl: string,
  { url = '/', method, headers }: IncomingMessage,
  body: string,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...others } = headers
    send(new URL(url, engineUrl), { method, headers: others }).on('response', resolve).on('error', reject).end(body)
  })
