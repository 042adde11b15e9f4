import { z } from 'zod'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Rows } from './answer.ts'
import type { Capabilities } from './capabilities.ts'
import { openEqualSets } from './equal-sets.ts'
import { hostFailure } from './failure.ts'
import type { Statement } from './statement.ts'

/** Asks in one go what later statements have to know; without settings, since whether these are allowed is part of the answer. */
export const capabilityStatement: Statement = {
  what: 'capabilities',
  bare: true,
  maxSeconds: 10,
  sql: `SELECT
  version(),
  toUInt8(getSetting('readonly')),
  (SELECT groupArray(name) FROM system.tables WHERE database = 'system')`,
}

const Row = z.tuple([z.string(), z.number(), z.array(z.string())])

/** A memory of a pure function only: hosts of one fleet mostly have the same tables. */
const equalTables = openEqualSets()

export const readCapabilities = (host: MonitoredHost, { rows }: Pick<Rows, 'rows'>): Capabilities => {
  const row = Row.safeParse(rows[0])
  if (!row.success) throw hostFailure(host, 'garbage')
  const [version, readonly, tables] = row.data
  return { version, readonly, tables: equalTables(tables) }
}

/** Asks whether there is a table; a user without any right on it gets an error instead of a number. */
export const presenceStatement = (table: string): Statement => looking(`EXISTS TABLE ${quoted(table)}`)

/** Reads nothing of a table; fails where the user may not read it or there is none. */
export const readingStatement = (table: string): Statement => looking(`SELECT 1 FROM ${quoted(table)} LIMIT 0`)

const looking = (sql: string): Statement => ({ what: 'capabilities', maxSeconds: 10, sql })

const quoted = (table: string): string => {
  const [database = '', name = ''] = table.split('.')
  return `\`${database}\`.\`${name}\``
}
