import type { Client } from '@libsql/client'
import { Kysely } from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import type { Server } from './connection.ts'
import { type LibsqlClients, libsqlDialect } from './libsql-dialect.ts'
import { patient } from './patient.ts'
import type { StateDatabase } from './state-database.ts'

/** A SQLite file or a libSQL server that has answered once. */
export const openLibsql = async ({ url, token }: StateDatabase): Promise<Server> => {
  const { createClient } = await import('@libsql/client')
  const open = () => createClient({ url, authToken: token })
  const clients: Client[] = []
  try {
    const [reader, writer] = [open(), open()]
    clients.push(reader, writer)
    // A write-ahead log lets reads pass a write; servers set their own.
    const first = url.startsWith('file:') ? 'pragma journal_mode = wal' : 'select 1'
    await patient(writer, () => writer.execute(first))
    return serverOver({ reader, writer })
  } catch (error) {
    for (const client of clients) client.close()
    throw new ServiceError('unavailable', 'the SQLite database cannot be opened', { cause: error })
  }
}

const serverOver = (clients: LibsqlClients): Server => ({
  kysely: new Kysely<unknown>({ dialect: libsqlDialect(clients) }),
  probe: () => clients.reader.execute('select 1'),
  listen: async () => ({ [Symbol.asyncDispose]: async () => {} }),
})
