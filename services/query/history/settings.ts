import type { Environment } from '#shared/config/environment.ts'
import {
  optionalTextSetting,
  parseSettings,
  secretSetting,
  type Setting,
  textSetting,
  urlSetting,
} from '#shared/config/setting.ts'

/** How long samples are kept in each resolution, in days since they were recorded. */
export interface HistoryRetention {
  rawDays: number
  fiveMinuteDays: number
  hourDays: number
}

const defaultRetention = '7d,90d,400d'
const maxRetentionDays = 3_650
const retentionSyntax = /^\s*(\d{1,4})d\s*,\s*(\d{1,4})d\s*,\s*(\d{1,4})d\s*$/
const retentionRule = `three increasing numbers of days, at most ${maxRetentionDays}, such as ${defaultRetention}`

const retentionSetting = (doc: string): Setting<HistoryRetention> => ({
  doc,
  audience: 'server',
  fallback: defaultRetention,
  allowed: retentionRule,
  parse: (text = defaultRetention) => {
    const [rawDays = 0, fiveMinuteDays = 0, hourDays = 0] = (retentionSyntax.exec(text) ?? []).slice(1).map(Number)
    const isValid = rawDays >= 1 && fiveMinuteDays > rawDays && hourDays > fiveMinuteDays
    if (!isValid || hourDays > maxRetentionDays) throw new Error(`must be ${retentionRule}`)
    return { rawDays, fiveMinuteDays, hourDays }
  },
})

/** Returns a setting for a name that is safe in SQL. */
const nameSetting = <T extends string | undefined>(setting: Setting<T>): Setting<T> => ({
  ...setting,
  allowed: 'letters, digits, _ and -',
  parse: (text) => {
    if (text === undefined || /^[\w-]{1,64}$/.test(text)) return setting.parse(text)
    throw new Error('must be a name of at most 64 letters, digits, _ and -')
  },
})

/** The settings of the history store. */
export const historySettings = {
  SVC_HISTORY_URL: urlSetting(
    'URL of the HTTP interface of a ClickHouse server that stores the history of all hosts. Unset: nothing is recorded; with embedded hosts, an embedded server is started.',
    { protocols: ['http', 'https'] },
  ),
  SVC_HISTORY_USER: textSetting('default', 'User of the history server. It needs all privileges on the database only.'),
  SVC_HISTORY_PASSWORD: secretSetting('Password of the history server.'),
  SVC_HISTORY_DATABASE: nameSetting(
    textSetting('watchhouse', 'Database of the history. Only one installation can write to it.'),
  ),
  SVC_HISTORY_CLUSTER: nameSetting(
    optionalTextSetting(
      'Cluster of the history server. If set, the tables are replicated and distributed over this cluster.',
    ),
  ),
  SVC_HISTORY_RETENTION: retentionSetting(
    'How long the history is kept: in full resolution, in intervals of five minutes, and in intervals of an hour.',
  ),
} as const

/** The history server and its tables. */
export interface HistoryConfig {
  url: URL
  user: string
  password: string
  database: string
  cluster: string | undefined
  retention: HistoryRetention
}

/** Returns the configuration of the history store; undefined if it is disabled. */
export const readHistoryConfig = (env: Environment): HistoryConfig | undefined => {
  const values = parseSettings(historySettings, env)
  return (
    values.SVC_HISTORY_URL && {
      url: values.SVC_HISTORY_URL,
      user: values.SVC_HISTORY_USER,
      password: values.SVC_HISTORY_PASSWORD ?? '',
      database: values.SVC_HISTORY_DATABASE,
      cluster: values.SVC_HISTORY_CLUSTER,
      retention: values.SVC_HISTORY_RETENTION,
    }
  )
}

/** Settings that make an insert one block in one request, so that its token covers all of its rows. */
export const insertSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  input_format_parallel_parsing: 0,
  max_insert_block_size: '1048576',
  min_insert_block_size_rows: '1048576',
  distributed_foreground_insert: 1,
  wait_end_of_query: 1,
} as const
