import type { Environment } from '../config/environment.ts'
import { type Setting, type SettingProblem, url } from '../config/setting.ts'
import type { StateDatabase } from './sql/state-database.ts'

const protocols = ['libsql', 'https', 'http', 'wss', 'ws', 'file'] as const

/** Returns a setting for the address of a SQLite database; a file may be relative to the working directory. */
export const edgeDatabaseUrl = (doc: string): Setting<string | undefined> => {
  const setting = url(doc, { protocols, audience: 'secret' })
  return {
    ...setting,
    parse: (value) => {
      setting.parse(value)
      return value
    },
  }
}

/** Settings of the edge SQL binding, for services that store data there. */
export const edgeBinding = {
  CONVERSATIONS_EDGESQL: edgeDatabaseUrl(
    'Edge SQL binding: a libsql: server with its token as authToken in the query, or a SQLite file: URL. Stores conversations, device codes, webhook subscriptions, and insights with INSIGHTS_STORE_BACKEND=edgesql when INSIGHTS_EDGESQL is unset.',
  ),
} as const

/** Returns the SQLite database at an address. Tables have no prefix, as the operator of the binding expects. */
export const edgeDatabase = (address: string): StateDatabase => ({
  kind: 'sqlite',
  url: address,
  token: undefined,
  tablePrefix: '',
})

/** Returns problems of settings that name a file although several processes must share the data. */
export const unsharedFiles = (names: readonly string[], env: Environment): SettingProblem[] =>
  names
    .filter((name) => env.NATS_URL && env[name]?.startsWith('file:'))
    .map((name) => ({
      name,
      sentence: 'a file: database cannot be shared by the processes of NATS_URL; name a libsql: server',
    }))
