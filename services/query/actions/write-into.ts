import type { Call } from '#proto/call.ts'
import { clickhouseCode } from '../clickhouse/failure.ts'
import type { Parts } from '../parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type Write, write } from './write.ts'

/** Rows for a table of the product's own. */
export interface WriteInto {
  /** With its database. */
  table: string
  creating: Write
  inserting: Write
}

const noSuchTable = 60

/** Writes into a table that is created the first time. */
export const writeInto = async (
  { client }: Pick<Parts, 'client'>,
  host: MonitoredHost,
  { table, creating, inserting }: WriteInto,
  call: Call,
): Promise<void> => {
  const create = async () => {
    await write({ client }, host, creating, call)
    client.forget(host)
  }
  if ((await client.presence(host, table, call)) === 'missing') await create()
  try {
    await write({ client }, host, inserting, call)
  } catch (error) {
    // It was removed since it was last seen.
    if (clickhouseCode(error) !== noSuchTable) throw error
    await create()
    await write({ client }, host, inserting, call)
  }
}
