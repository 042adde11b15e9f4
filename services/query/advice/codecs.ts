import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { type AdvisedCodec, maxSampledRows } from '#proto/structure-advice.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { toColumnSql, adviceLimits, maxAdviceSeconds } from './expression-sql.ts'
import { hostNumberSchema, readRecords } from '../analysis/read-records.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import { compareVersions } from '../clickhouse/capabilities.ts'
import type { HostContext } from '../explorer/read-view.ts'

interface ColumnAddress {
  database: string
  table: string
  column: string
}

const Ratios = z.object({ ratios: z.array(z.number().nullable()) })
/** The first ClickHouse version with `estimateCompressionRatio`. */
const since = '25.3'
/** Error codes of ClickHouse for a codec that does not support the column type. */
const unsuitableCodes = new Set<number | undefined>([36, 43, 378, 431])

/** Returns the host's estimated compression ratio of each codec; empty if the host does not support estimates. */
export const readCodecRatios = async (
  context: HostContext,
  { codecs, ...column }: ColumnAddress & { codecs: readonly AdvisedCodec[] },
): Promise<{ codec: AdvisedCodec; ratio: number }[]> => {
  const { version } = await context.parts.client.capabilities(context.host, context.call)
  if (compareVersions(version, since) < 0) return []
  const ratios = []
  for (const codec of codecs) {
    const ratio = await ratioOf(context, column, codec)
    if (ratio !== undefined) ratios.push({ codec, ratio })
  }
  return ratios
}

const ratioOf = async (
  { parts, host, call }: HostContext,
  { database, table, column }: ColumnAddress,
  codec: AdvisedCodec,
): Promise<number | undefined> => {
  const values = `SELECT ${toColumnSql(column)} AS value FROM ${quoteName(database)}.${quoteName(table)} LIMIT ${maxSampledRows}`
  const sql = `SELECT [estimateCompressionRatio('${codec}')(value)] AS ratios FROM (${values})`
  const statement = { what: 'advice/codec', sql, limits: adviceLimits, maxSeconds: maxAdviceSeconds }
  try {
    const [row] = readRecords(host, Ratios, await parts.client.run(host, statement, call))
    return row?.ratios[0] ?? undefined
  } catch (error) {
    if (unsuitableCodes.has(findClickhouseErrorCode(error))) return undefined
    throw error
  }
}

const Sizes = z.object({ name: z.string(), bytes: hostNumberSchema, rows: hostNumberSchema })

/** Writes a column with and without the codec to a temporary table of the session, and compares sizes. */
export const measureCodec = async (
  { parts, host, call }: HostContext,
  { database, table, column, codec }: ColumnAddress & { codec: AdvisedCodec },
): Promise<{ rows: number; bytesBefore: number; bytesAfter: number }> => {
  const session = randomUUID()
  const name = `watchhouse_${session.replaceAll('-', '')}`
  const source = `${quoteName(database)}.${quoteName(table)}`
  const value = toColumnSql(column)
  const send = async (sql: string): Promise<void> => {
    const statement = {
      what: 'advice/measure',
      sql,
      session,
      limits: adviceLimits,
      maxSeconds: maxAdviceSeconds,
      writes: true as const,
    }
    await parts.client.run(host, statement, call)
  }
  const type = await readColumnType({ parts, host, call }, { database, table, column })
  await send(
    `CREATE TEMPORARY TABLE ${name} (before ${type}, after ${type} CODEC(${codec})) ENGINE = MergeTree ORDER BY tuple() SETTINGS min_bytes_for_wide_part = 0, min_rows_for_wide_part = 0`,
  )
  try {
    await send(`INSERT INTO ${name} SELECT ${value}, ${value} FROM ${source} LIMIT ${maxSampledRows}`)
    const reading = {
      what: 'advice/measure',
      sql: `SELECT name, data_compressed_bytes AS bytes, (SELECT count() FROM ${name}) AS rows FROM system.columns WHERE table = '${name}'`,
      session,
    }
    const sizes = readRecords(host, Sizes, await parts.client.run(host, reading, call))
    const bytesOf = (wanted: string): number => sizes.find((each) => each.name === wanted)?.bytes ?? 0
    return { rows: sizes[0]?.rows ?? 0, bytesBefore: bytesOf('before'), bytesAfter: bytesOf('after') }
  } finally {
    await send(`DROP TEMPORARY TABLE IF EXISTS ${name}`)
  }
}

const Type = z.object({ type: z.string() })

/** Reads the type from the host, so that no caller text gets into a statement. */
const readColumnType = async (
  { parts, host, call }: HostContext,
  { database, table, column }: ColumnAddress,
): Promise<string> => {
  const sql =
    'SELECT type FROM system.columns WHERE database = {database:String} AND table = {table:String} AND name = {column:String}'
  const statement = { what: 'advice/type', sql, parameters: { database, table, column } }
  const [row] = readRecords(host, Type, await parts.client.run(host, statement, call))
  if (!row) throw new ServiceError('not-found', `unknown column "${column}"`, { details: { parameter: 'column' } })
  return row.type
}
