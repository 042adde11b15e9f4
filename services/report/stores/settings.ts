import { oneOf, type Setting, whole } from '#shared/config/setting.ts'

const backends = ['auto', 'clickhouse', 'edgesql', 'postgres', 'convstore', 'memory'] as const

/** A SQLite database: a file, or a libSQL server with its token in the address. */
const edgeDatabase = (doc: string): Setting<string | undefined> => ({
  doc,
  audience: 'secret',
  fallback: 'none',
  allowed: 'file: or libsql: URL',
  parse: (given) => {
    if (given === undefined || /^(file|libsql|https?|wss?):./.test(given)) return given
    throw new Error('must begin with file: or libsql:')
  },
})

/** Where insights are kept, and for how long. */
export const insightStoreSettings = {
  INSIGHTS_STORE_BACKEND: oneOf(
    backends,
    'auto',
    'Where insights are kept. auto is clickhouse: the table monitoring_findings of each host. One whose prerequisite is missing gives way to clickhouse, with a warning.',
  ),
  INSIGHTS_EDGESQL: edgeDatabase('SQLite database of the edgesql store of insights; CONVERSATIONS_EDGESQL by default.'),
  CONVERSATIONS_EDGESQL: edgeDatabase('SQLite database of the edgesql stores.'),
  SVC_INSIGHTS_DAYS: whole(90, 'Insights are removed this many days after they were found.', { min: 1, max: 3_650 }),
} as const
