import { type Setting, url } from '../config/setting.ts'

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

/** The edge SQL binding of the configuration reference, for whoever keeps something there. */
export const edgeBinding = {
  CONVERSATIONS_EDGESQL: edgeDatabaseUrl(
    'The edge SQL binding: a libsql: server, its token as authToken in the query, or a file: of SQLite. Device codes are kept there when it is bound, and insights that are to be kept in edgesql and have no INSIGHTS_EDGESQL.',
  ),
} as const
