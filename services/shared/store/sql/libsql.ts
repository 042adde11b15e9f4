import { statSync } from 'node:fs'
import type { Client } from '@libsql/client'
import { Kysely } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import type { DatabaseServer } from './context.ts'
import { parseFilePath, describeDatabaseError } from './failure.ts'
import { type LibsqlClients, createLibsqlDialect } from './libsql-dialect.ts'
import { retryWhileLocked } from './retry-while-locked.ts'
import type { StateDatabase } from './state-database.ts'

/** Opens a SQLite file or a libSQL server and waits for its first response. */
export const openLibsql = async (where: StateDatabase): Promise<DatabaseServer> => {
  const { url, token } = where
  const { createClient } = await import('@libsql/client')
  const open = () => createClient({ url, authToken: token })
  const clients: Client[] = []
  try {
    const [reader, writer] = [open(), open()]
    clients.push(reader, writer)
    // A write-ahead log allows reads during a write; libSQL servers set their own journal mode.
    const first = url.startsWith('file:') ? 'pragma journal_mode = wal' : 'select 1'
    await retryWhileLocked(writer, () => writer.execute(first))
    return createServer({ reader, writer }, url)
  } catch (error) {
    for (const client of clients) client.close()
    throw new ServiceError('unavailable', describeDatabaseError(error, where), { cause: error })
  }
}

const createServer = (clients: LibsqlClients, url: string): DatabaseServer => {
  const path = parseFilePath(url)
  let inode = path === undefined ? undefined : readInode(path)
  const probe = async () => {
    if (path !== undefined) {
      // SQLite keeps writing to a removed or replaced file, so a changed inode requires new connections.
      const current = readInode(path)
      if (current !== inode) for (const client of [clients.reader, clients.writer]) client.reconnect()
      inode = current
    }
    return clients.reader.execute('select 1')
  }
  const kysely = new Kysely<unknown>({ dialect: createLibsqlDialect(clients) })
  return {
    kysely,
    probe,
    listen: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    [Symbol.asyncDispose]: () => kysely.destroy(),
  }
}

/** Returns the inode of a file; throws `ENOENT` if the file does not exist. */
const readInode = (path: string): number => statSync(path).ino
