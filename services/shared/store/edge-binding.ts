import type { Environment } from '../config/environment.ts'
import { type Setting, type SettingProblem, urlSetting } from '../config/setting.ts'
import type { StateDatabase } from './sql/state-database.ts'

const protocols = ['libsql', 'https', 'http', 'wss', 'ws', 'file'] as const

/** Returns a setting for the URL of a SQLite database; the path of a file may be relative to the working directory. */
export const edgeDatabaseUrlSetting = (doc: string): Setting<string | undefined> => {
  const setting = urlSetting(doc, { protocols, audience: 'secret' })
  return {
    ...setting,
    parse: (value) => {
      setting.parse(value)
      return value
    },
  }
}

/** The setting of the edge SQL binding, shared by the services that store data there. */
export const edgeBindingSettings = {
  CONVERSATIONS_EDGESQL: edgeDatabaseUrlSetting(
    'Edge SQL binding: a libsql: server with its token as authToken in the query, or a SQLite file: URL. Stores conversations, device codes, webhook subscriptions, and insights with INSIGHTS_STORE_BACKEND=edgesql when INSIGHTS_EDGESQL is unset.',
  ),
} as const

/** Returns the SQLite database at an address. Tables have no prefix, as the operator of the binding expects. */
export const toEdgeDatabase = (address: string): StateDatabase => ({
  kind: 'sqlite',
  url: address,
  token: undefined,
  tablePrefix: '',
})

/** Returns a problem for each setting that names a SQLite file although several processes must share the data. */
export const findUnsharedFileProblems = (names: readonly string[], env: Environment): SettingProblem[] =>
  names
    .filter((name) => env.NATS_URL && env[name]?.startsWith('file:'))
    .map((name) => ({
      name,
      sentence: 'a file: database cannot be shared by the processes of NATS_URL; use a libsql: server',
    }))
