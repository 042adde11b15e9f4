import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import {
  type structureAdviceDataMethods,
  maxSampledRows,
  hardwareDependentSettings as names,
} from '#proto/structure-advice.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { toColumnSql, adviceLimits, maxAdviceSeconds } from './expression-sql.ts'
import { hostNumberSchema, readRecords } from '../analysis/read-records.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import type { HostContext } from '../explorer/read-view.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { readCodecRatios, measureCodec } from './codecs.ts'

const Setting = z.object({ name: z.string(), value: z.string() })
const listed = names.map((name) => `'${name}'`).join(', ')

/** Reads the settings that advice depends on: those of the server and those of the configured user. */
const readTunedSettings = async ({ parts, host, call }: HostContext): Promise<Record<string, string>> => {
  const of = (table: string): string => `SELECT name, value FROM system.${table} WHERE name IN (${listed})`
  const statement = { what: 'advice/settings', bare: true, sql: `${of('settings')} UNION ALL ${of('server_settings')}` }
  const rows = readRecords(host, Setting, await parts.client.run(host, statement, call))
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

const Change = z.object({
  release: z.string(),
  name: z.string(),
  before: z.string(),
  after: z.string(),
  reason: z.string(),
})
const unknownTable = 60
const releaseNumber = (release: string): string =>
  `toUInt32(splitByChar('.', ${release})[1]) * 1000 + toUInt32(splitByChar('.', ${release})[2])`

/** Returns the settings whose defaults changed after a release; empty on hosts without `system.settings_changes`. */
const readSettingsChanges = async (
  { parts, host, call }: HostContext,
  since: string,
): Promise<z.output<typeof Change>[]> => {
  const sql = `SELECT version AS release, change.1 AS name, change.2 AS before, change.3 AS after, change.4 AS reason
FROM system.settings_changes ARRAY JOIN changes AS change
WHERE before != after AND ${releaseNumber('version')} > ${releaseNumber('{since:String}')}
ORDER BY ${releaseNumber('version')}, name
LIMIT 300`
  const statement = { what: 'advice/changes', sql, parameters: { since } }
  try {
    return readRecords(host, Change, await parts.client.run(host, statement, call))
  } catch (error) {
    if (findClickhouseErrorCode(error) === unknownTable) return []
    throw error
  }
}

const Old = z.object({ bytes: hostNumberSchema, oldBytes: hostNumberSchema })

/** Returns the compressed bytes of active parts: in total, and older than a year. Parts without dates count as new. */
const readPartAges = async (
  { parts, host, call }: HostContext,
  request: { database: string; table: string },
): Promise<z.output<typeof Old>> => {
  const sql = `SELECT sum(data_compressed_bytes) AS bytes,
  sumIf(data_compressed_bytes, greatest(max_date, toDate(max_time)) BETWEEN toDate('1980-01-01') AND today() - 365) AS oldBytes
FROM system.parts
WHERE active AND database = {database:String} AND table = {table:String}`
  const { database, table } = request
  const statement = { what: 'advice/ages', sql, parameters: { database, table } }
  const [row] = readRecords(host, Old, await parts.client.run(host, statement, call))
  return row ?? { bytes: 0, oldBytes: 0 }
}

interface ColumnsRequest {
  database: string
  table: string
  columns: readonly { name: string; hasBounds: boolean }[]
}

const bound = z.number().nullable()
const Row = z.object({
  rows: hostNumberSchema,
  distinct: z.array(hostNumberSchema),
  nulls: z.array(hostNumberSchema),
  minimums: z.array(bound),
  maximums: z.array(bound),
})

/** Returns statistics of columns over the first rows of a table, from one statement. */
const readColumnFacts = async ({ parts, host, call }: HostContext, { database, table, columns }: ColumnsRequest) => {
  const names = columns.map(({ name }) => toColumnSql(name))
  const each = (aggregate: (column: string) => string): string => `[${names.map(aggregate).join(', ')}]`
  const bounds = (aggregate: string): string =>
    `[${columns.map(({ hasBounds }, index) => (hasBounds ? `toFloat64(${aggregate}(${names[index]}))` : 'NULL')).join(', ')}]::Array(Nullable(Float64))`
  const sql = `SELECT count() AS rows,
  ${each((column) => `uniqCombined(${column})`)} AS distinct,
  ${each((column) => `countIf(isNull(${column}))`)} AS nulls,
  ${bounds('min')} AS minimums,
  ${bounds('max')} AS maximums
FROM (SELECT ${names.join(', ')} FROM ${quoteName(database)}.${quoteName(table)} LIMIT ${maxSampledRows})`
  const statement = { what: 'advice/columns', sql, limits: adviceLimits, maxSeconds: maxAdviceSeconds }
  const [row] = readRecords(host, Row, await parts.client.run(host, statement, call))
  return {
    rows: row?.rows ?? 0,
    columns: columns.map(({ name }, index) => ({
      name,
      distinct: row?.distinct[index] ?? 0,
      nulls: row?.nulls[index] ?? 0,
      minimum: row?.minimums[index] ?? null,
      maximum: row?.maximums[index] ?? null,
    })),
  }
}

/** Returns the handlers that read the data for advice: columns, codec ratios, ages of parts and settings. */
export const createStructureFactHandlers = (
  parts: QueryHandlerDeps,
): ServiceHandlers<Service<typeof structureAdviceDataMethods>> => {
  const contextFor = (hostKey: string, call: CallContext) => ({ parts, host: parts.hosts.get(hostKey), call })
  return {
    columnFacts: ({ hostKey, ...request }, call) => readColumnFacts(contextFor(hostKey, call), request),
    codecRatios: ({ hostKey, ...request }, call) => readCodecRatios(contextFor(hostKey, call), request),
    measureCodec: ({ hostKey, ...request }, call) => measureCodec(contextFor(hostKey, call), request),
    oldParts: ({ hostKey, ...request }, call) => readPartAges(contextFor(hostKey, call), request),
    tunedSettings: ({ hostKey }, call) => readTunedSettings(contextFor(hostKey, call)),
    settingsChanges: ({ hostKey, since }, call) => readSettingsChanges(contextFor(hostKey, call), since),
  }
}
