import { z } from 'zod'
import { quoteName } from '#shared/quote.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Rows } from './answer.ts'
import type { Capabilities } from './capabilities.ts'
import { openEqualSystems } from './equal-systems.ts'
import { hostFailure } from './failure.ts'
import { LogColumns, logColumnsStatement, rotatedLogs } from './rotated-logs.ts'
import type { Statement } from './statement.ts'

/** Asks in one go what later statements have to know; without settings, since whether these are allowed is part of the answer. */
export const capabilityStatement: Statement = {
  what: 'capabilities',
  bare: true,
  short: true,
  maxSeconds: 10,
  sql: `SELECT
  version(),
  toUInt8(getSetting('readonly')),
  (SELECT groupArray(name) FROM system.tables WHERE database = 'system')`,
}

const Told = z.tuple([z.tuple([z.string(), z.number(), z.array(z.string())])])

/** A memory of a pure function only: hosts of one fleet mostly have the same tables. */
const equalSystem = openEqualSystems()

/** Learns what a host can do; `ask` sends it a statement. */
export const learnCapabilities = async (
  host: MonitoredHost,
  ask: (statement: Statement) => Promise<Pick<Rows, 'rows'>>,
): Promise<Capabilities> => {
  const told = async <T>(statement: Statement, schema: z.ZodType<T>): Promise<T> => {
    const parsed = schema.safeParse((await ask(statement)).rows)
    if (!parsed.success) throw hostFailure(host, 'garbage')
    return parsed.data
  }
  const [[version, readonly, names]] = await told(capabilityStatement, Told)
  const tables = new Set(names)
  const missing = logColumnsStatement(version, tables)
  const logs = rotatedLogs(tables, missing && (await told(missing, LogColumns)))
  return { version, readonly, ...equalSystem({ tables, logs }) }
}

/** Asks whether there is a table; a user without any right on it gets an error instead of a number. */
export const presenceStatement = (table: string): Statement => looking(`EXISTS TABLE ${quoted(table)}`)

/** Reads nothing of a table; fails where the user may not read it or there is none. */
export const readingStatement = (table: string): Statement => looking(`SELECT 1 FROM ${quoted(table)} LIMIT 0`)

const looking = (sql: string): Statement => ({ what: 'capabilities', maxSeconds: 10, sql })

const quoted = (table: string): string => {
  const [database = '', name = ''] = table.split('.')
  return `${quoteName(database)}.${quoteName(name)}`
}
