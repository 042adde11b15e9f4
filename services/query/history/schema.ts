import { quoteName, quoteText } from '#shared/sql/statement-text.ts'
import type { HistoryConfig, HistoryRetention } from './settings.ts'

/** The tables of the history. */
export const historyTables = ['samples', 'query_patterns', 'log_lines', 'running_queries', 'objects'] as const
export type HistoryTable = (typeof historyTables)[number]

/** The table whose only row names the installation that writes the history. */
export const ownerTable = 'owner'

/**
 * Number of inserts whose tokens the engine remembers. A repeated insert follows within minutes, and a thousand hosts
 * insert about four thousand batches a minute.
 */
const deduplicationWindow = 20_000

interface TableSchema {
  /** Column names with their types. */
  columns: Readonly<Record<string, string>>
  /** The columns that identify a series. */
  key: readonly string[]
  /** How the engine combines rows of one series and interval, by column; undefined if rows are only deleted. */
  rollUp?: Readonly<Record<string, string>>
  /** How long rows are kept. */
  days(retention: HistoryRetention): number
}

const text = 'String CODEC(ZSTD(3))'
const word = 'LowCardinality(String) CODEC(ZSTD(3))'
const time = "DateTime('UTC') CODEC(DoubleDelta, ZSTD(3))"
const total = 'UInt64 CODEC(T64, ZSTD(3))'
const histogram = 'Map(UInt16, UInt64) CODEC(ZSTD(3))'

/** The watermark of a source, in the row that ends each batch. Atomic inserts therefore also move the watermark. */
const watermark = {
  until: "DateTime('UTC') DEFAULT 0 CODEC(ZSTD(3))",
  recorded_ms: 'UInt64 DEFAULT 0 CODEC(ZSTD(3))',
}
const watermarkRollUp = { until: 'max(until)', recorded_ms: 'max(recorded_ms)' }

const sums = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `sum(${name})`]))
const maps = (...names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `sumMap(${name})`]))

const schemas: Readonly<Record<HistoryTable, TableSchema>> = {
  samples: {
    columns: {
      host: word,
      metric: word,
      label: text,
      time,
      sum: 'Float64 CODEC(ZSTD(3))',
      count: 'UInt32 CODEC(T64, ZSTD(3))',
      highest: 'Float64 CODEC(ZSTD(3))',
      ...watermark,
    },
    key: ['host', 'metric', 'label'],
    rollUp: { ...sums('sum', 'count'), highest: 'max(highest)', ...watermarkRollUp },
    days: ({ hourDays }) => hourDays,
  },
  query_patterns: {
    columns: {
      host: word,
      hash: 'UInt64 CODEC(ZSTD(3))',
      kind: word,
      time,
      pattern: word,
      calls: total,
      errors: total,
      rejected: total,
      duration_ms: total,
      cpu_us: total,
      memory_bytes: total,
      peak_memory_bytes: total,
      rows_read: total,
      bytes_read: total,
      rows_written: total,
      durations: histogram,
      cpu_times: histogram,
      memories: histogram,
      row_counts: histogram,
      byte_counts: histogram,
      users: 'Array(LowCardinality(String)) CODEC(ZSTD(3))',
      tables: 'Array(LowCardinality(String)) CODEC(ZSTD(3))',
      ...watermark,
    },
    key: ['host', 'hash', 'kind'],
    rollUp: {
      pattern: 'any(pattern)',
      ...sums(
        'calls',
        'errors',
        'rejected',
        'duration_ms',
        'cpu_us',
        'memory_bytes',
        'rows_read',
        'bytes_read',
        'rows_written',
      ),
      peak_memory_bytes: 'max(peak_memory_bytes)',
      ...maps('durations', 'cpu_times', 'memories', 'row_counts', 'byte_counts'),
      users: 'groupUniqArrayArray(20)(users)',
      tables: 'groupUniqArrayArray(20)(tables)',
      ...watermarkRollUp,
    },
    days: ({ hourDays }) => hourDays,
  },
  log_lines: {
    columns: { host: word, level: word, time, logger: word, message: text, ...watermark },
    key: ['host', 'level'],
    days: ({ fiveMinuteDays }) => fiveMinuteDays,
  },
  running_queries: {
    columns: {
      host: word,
      time,
      query_id: text,
      user: word,
      elapsed_seconds: 'Float32 CODEC(ZSTD(3))',
      memory_bytes: total,
      rows_read: total,
      pattern: word,
    },
    key: ['host'],
    days: ({ fiveMinuteDays }) => fiveMinuteDays,
  },
  objects: {
    columns: { host: word, kind: word, name: text, time, definition: text, is_removed: 'UInt8', ...watermark },
    key: ['host', 'kind', 'name'],
    days: ({ hourDays }) => hourDays,
  },
}

/** Returns the table from which a table of the history is read and into which it is written. */
export const fullName = ({ database }: Pick<HistoryConfig, 'database'>, table: string): string =>
  `${quoteName(database)}.${quoteName(table)}`

/** Returns the name of the table that stores the rows: with a cluster, the local table of each server. */
const storedName = ({ cluster }: HistoryConfig, table: string): string =>
  cluster === undefined ? table : `${table}_local`

const storedFullName = (config: HistoryConfig, table: string): string => fullName(config, storedName(config, table))

/** Returns the statements that create the tables, by table, in order. All of them can be repeated. */
export const createSchemaStatements = (config: HistoryConfig): ReadonlyMap<string, string> =>
  new Map([
    [
      storedName(config, ownerTable),
      `CREATE TABLE IF NOT EXISTS ${storedFullName(config, ownerTable)}${onCluster(config)} (installation String, since DateTime('UTC') DEFAULT now())
${engineOf(config)} ORDER BY tuple()
SETTINGS ${deduplicationSettings(config, 100)}`,
    ],
    ...distributed(config, ownerTable, '1'),
    ...historyTables.flatMap((table) => [
      [storedName(config, table), createTable(config, table)] as const,
      ...distributed(config, table, 'cityHash64(host)'),
    ]),
  ])

/** Returns the statements that add columns of newer versions to an existing table. */
export const addColumns = (config: HistoryConfig, table: HistoryTable, present: ReadonlySet<string>): string[] => {
  const missing = Object.entries(schemas[table].columns).filter(([name]) => !present.has(name))
  const additions = missing.map(([name, type]) => `ADD COLUMN IF NOT EXISTS ${name} ${type}`).join(', ')
  const tables = new Set([storedName(config, table), table])
  return missing.length === 0
    ? []
    : [...tables].map((name) => `ALTER TABLE ${fullName(config, name)}${onCluster(config)} ${additions}`)
}

/** Returns the statement that lists the existing tables, with the number of servers that have each of them. */
export const tablesStatement = ({ cluster, database }: HistoryConfig): string => {
  const source = cluster === undefined ? 'system.tables' : `clusterAllReplicas(${quoteText(cluster)}, system.tables)`
  // The table `system.one` exists on every server, so its count is the number of servers.
  return `SELECT if(database = 'system', '', name) AS name, toUInt32(count()) AS servers FROM ${source}
WHERE database = ${quoteText(database)} OR database = 'system' AND name = 'one'
GROUP BY name SETTINGS skip_unavailable_shards = 1`
}

/** Returns the statement that lists the columns of the tables on the connected server. */
export const columnsStatement = (config: HistoryConfig): string => {
  const tables = historyTables.map((table) => quoteText(storedName(config, table)))
  return `SELECT replaceRegexpOne(table, '_local$', '') AS changed, groupArray(name) AS names FROM system.columns
WHERE database = ${quoteText(config.database)} AND table IN (${tables.join(', ')}) GROUP BY changed`
}

const createTable = (config: HistoryConfig, table: HistoryTable): string => {
  const { columns, key } = schemas[table]
  const intervals = 'toStartOfHour(time), toStartOfFiveMinutes(time)'
  return `CREATE TABLE IF NOT EXISTS ${storedFullName(config, table)}${onCluster(config)} (
  ${Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(',\n  ')}
)
${engineOf(config)}
PARTITION BY toMonday(time)
PRIMARY KEY (${key.join(', ')}, ${intervals})
ORDER BY (${key.join(', ')}, ${intervals}, time)
TTL ${formatTtl(table, config.retention)}
SETTINGS ${deduplicationSettings(config, deduplicationWindow)}
COMMENT ${quoteText(formatRetention(config.retention))}`
}

/** Returns the statements that apply a changed retention to a table. */
export const alterRetention = (config: HistoryConfig, table: HistoryTable): string[] => [
  `ALTER TABLE ${storedFullName(config, table)}${onCluster(config)} MODIFY TTL ${formatTtl(table, config.retention)}`,
  `ALTER TABLE ${storedFullName(config, table)}${onCluster(config)} MODIFY COMMENT ${quoteText(formatRetention(config.retention))}`,
]

/** Returns the statement for the comments of the tables, which contain the applied retention. */
export const retentionStatement = (config: HistoryConfig): string =>
  `SELECT replaceRegexpOne(name, '_local$', '') AS table, comment FROM system.tables
WHERE database = ${quoteText(config.database)} AND name IN (${historyTables.map((table) => quoteText(storedName(config, table))).join(', ')})`

/** Returns a retention as the comment of its tables. */
export const formatRetention = ({ rawDays, fiveMinuteDays, hourDays }: HistoryRetention): string =>
  `retention ${rawDays}d,${fiveMinuteDays}d,${hourDays}d`

const formatTtl = (table: HistoryTable, retention: HistoryRetention): string => {
  const { key, rollUp, days } = schemas[table]
  const remove = `time + toIntervalDay(${days(retention)}) DELETE`
  if (!rollUp) return remove
  const sets = ['time = min(time)', ...Object.entries(rollUp).map(([name, value]) => `${name} = ${value}`)].join(', ')
  const hour = `${key.join(', ')}, toStartOfHour(time)`
  return [
    remove,
    `time + toIntervalDay(${retention.rawDays}) GROUP BY ${hour}, toStartOfFiveMinutes(time) SET ${sets}`,
    `time + toIntervalDay(${retention.fiveMinuteDays}) GROUP BY ${hour} SET ${sets}`,
  ].join(', ')
}

const onCluster = ({ cluster }: HistoryConfig): string =>
  cluster === undefined ? '' : ` ON CLUSTER ${quoteName(cluster)}`

const engineOf = ({ cluster }: HistoryConfig): string =>
  cluster === undefined
    ? 'ENGINE = MergeTree'
    : "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')"

/** A replica that was down for hours must still recognize the inserts before. */
const deduplicationSeconds = 7 * 86_400

const deduplicationSettings = ({ cluster }: HistoryConfig, inserts: number): string =>
  cluster === undefined
    ? `non_replicated_deduplication_window = ${inserts}`
    : `replicated_deduplication_window = ${inserts}, replicated_deduplication_window_seconds = ${deduplicationSeconds}`

const distributed = (config: HistoryConfig, table: string, shardingKey: string): (readonly [string, string])[] =>
  config.cluster === undefined
    ? []
    : [
        [
          table,
          `CREATE TABLE IF NOT EXISTS ${fullName(config, table)}${onCluster(config)} AS ${storedFullName(config, table)}
ENGINE = Distributed(${[config.cluster, config.database, `${table}_local`].map(quoteText).join(', ')}, ${shardingKey})`,
        ],
      ]
