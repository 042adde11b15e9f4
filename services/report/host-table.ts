import type { Kysely } from 'kysely'

/** A table of things that hosts have, each with an id, a host, an instant in milliseconds, and the rest as text. */
interface HostTable {
  name: string
  /** Begins the names of its indexes. */
  prefix: string
  at: string
  texts: readonly string[]
}

/** Makes one, to be read by host and instant. */
export const createHostTable = async (
  tables: Kysely<unknown>,
  { name, prefix, at, texts }: HostTable,
): Promise<void> => {
  const table = tables.schema
    .createTable(name)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('host_key', 'text', (column) => column.notNull())
    .addColumn(at, 'bigint', (column) => column.notNull())
  await texts.reduce((made, text) => made.addColumn(text, 'text', (column) => column.notNull()), table).execute()
  await tables.schema.createIndex(`${prefix}${name}_host`).on(name).columns(['host_key', at]).execute()
}
