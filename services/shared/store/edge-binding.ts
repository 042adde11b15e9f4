import type { Environment } from '../config/environment.ts'
import { type Setting, type SettingProblem, url } from '../config/setting.ts'
import type { StateDatabase } from './sql/state-database.ts'

const protocols = ['libsql', 'https', 'http', 'wss', 'ws', 'file'] as const

/** The address of a SQLite database as it was written: a file may be named from where the process runs. */
export const edgeDatabaseUrl = (doc: string): Setting<string | undefined> => {
  const setting = url(doc, { protocols, audience: 'secret' })
  return {
    ...setting,
    parse: (given) => {
      setting.parse(given)
      return given
    },
  }
}

/** The edge SQL binding of the configuration reference, for services that store something there. */
export const edgeBinding = {
  CONVERSATIONS_EDGESQL: edgeDatabaseUrl(
    'Edge SQL binding: a libsql: server with its token as authToken in the query, or a SQLite file: URL. Stores conversations, device codes, webhook subscriptions, and insights with INSIGHTS_STORE_BACKEND=edgesql when INSIGHTS_EDGESQL is unset.',
  ),
} as const

/** Returns the database at such an address. Tables keep their plain names, as the operator of the binding expects. */
export const edgeDatabase = (address: string): StateDatabase => ({
  kind: 'sqlite',
  url: address,
  token: undefined,
  tablePrefix: '',
})

/** Which of these settings name a file where several processes would have to share it. */
export const unsharedFiles = (names: readonly string[], env: Environment): SettingProblem[] =>
  names
    .filter((name) => env.NATS_URL && env[name]?.startsWith('file:'))
    .map((name) => ({
      name,
      sentence: 'a file: database cannot be shared by the processes of NATS_URL; name a libsql: server',
    }))
