import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import type { Database } from '../sql/connection.ts'
import { migrate } from '../sql/migrate.ts'
import type {
  ColumnValue,
  ColumnCondition,
  CollectionRow,
  RowQuery,
  RowTable,
  TableSpec,
  CollectionTables,
} from './rows.ts'

/** A stored row by column name. */
interface StoredRow {
  [column: string]: ColumnValue
}
type StoredTables = Record<string, StoredRow>

/** Maximum rows of one insert; SQLite allows 32,766 values. */
const maxInsertedRows = 500
/** Maximum rows of one delete: a long statement blocks others until it ends or times out. */
const maxRemovedRows = 2_000

/** Creates missing tables and returns all tables. Owner and table name identify the migration that creates a table. */
export const openSqlTables = async (
  database: Database,
  owner: string,
  specs: readonly TableSpec[],
): Promise<CollectionTables> => {
  const names = specs.map(({ name }) => name)
  const steps = specs.map((spec) => ({
    name: spec.name,
    up: (all: Kysely<unknown>) => createTable(database, all, spec),
  }))
  await migrate(database, owner, names, steps)
  return createTables(database, database.tables<StoredTables>(names))
}

const createTables = (database: Database, all: Kysely<StoredTables>): CollectionTables => ({
  kind: database.kind,
  of: (table) => createSqlRows(database, all, table),
  report: database.report,
  atomically: (step, lockName) =>
    database.run(() =>
      all.transaction().execute(async (transaction) => {
        // SQLite needs no lock, because it serializes write transactions itself.
        if (lockName !== undefined && database.kind === 'postgres')
          await sql`select pg_advisory_xact_lock(hashtext(${database.prefix + lockName}))`.execute(transaction)
        return step(createTables(database, transaction))
      }),
    ),
})

const createSqlRows = ({ kind, run }: Database, all: Kysely<StoredTables>, table: TableSpec): RowTable => {
  const { name } = table
  const putOnce = async (rows: readonly CollectionRow[], existing: 'replace' | 'leave') =>
    Number((await run(() => buildInsert(all, table, rows, existing).executeTakeFirst())).numInsertedOrUpdatedRows)
  return {
    async put(rows, existing) {
      // Keeps the last row of each id, because PostgreSQL rejects a statement that updates a row twice.
      const due = existing === 'leave' ? rows : [...new Map(rows.map((row) => [row.id, row])).values()]
      let count = 0
      for (let from = 0; from < due.length; from += maxInsertedRows)
        count += await putOnce(due.slice(from, from + maxInsertedRows), existing)
      return count
    },
    async swap(row, version) {
      if (version === undefined) return (await putOnce([row], 'leave')) === 1
      const update = all.updateTable(name).set(toStoredRow(row))
      const swapping = update.where('id', '=', row.id).where('version', '=', version)
      return (await run(() => swapping.executeTakeFirst())).numUpdatedRows === 1n
    },
    async get(id) {
      const one = all.selectFrom(name).select(['version', 'document']).where('id', '=', id)
      const row = await run(() => one.executeTakeFirst())
      return row && { version: String(row.version), document: String(row.document) }
    },
    async texts(query, text) {
      const { orderBy = 'id' } = query
      const select = all.selectFrom(name).select(['id', toColumnName(orderBy), text])
      const rows = await run(() => buildSelect(select, kind, query).execute())
      return rows.map((row) => ({
        id: String(row.id),
        value: readSortValue(row, table, orderBy),
        text: String(row[text]),
      }))
    },
    async count(where) {
      const counting = all.selectFrom(name).select((select) => select.fn.countAll().as('count'))
      return Number((await run(() => counting.where(createCondition(kind, where)).executeTakeFirstOrThrow())).count)
    },
    async remove(where) {
      const batch = all.selectFrom(name).select('id').where(createCondition(kind, where)).limit(maxRemovedRows)
      const removing = all.deleteFrom(name).where('id', 'in', batch)
      for (let removed = 0; ;) {
        const count = Number((await run(() => removing.executeTakeFirst())).numDeletedRows)
        removed += count
        if (count < maxRemovedRows) return removed
      }
    },
  }
}

/** Returns the sort value of a row. PostgreSQL returns 64-bit integers as text. */
const readSortValue = (row: StoredRow, { columns }: TableSpec, orderBy: string): ColumnValue => {
  const value = row[toColumnName(orderBy)] ?? null
  return columns[orderBy] === 'integer' && value !== null ? Number(value) : value
}

const buildInsert = (
  all: Kysely<StoredTables>,
  { name, columns, supersedes }: TableSpec,
  rows: readonly CollectionRow[],
  existing: 'replace' | 'leave',
) =>
  all
    .insertInto(name)
    .values(rows.map(toStoredRow))
    .onConflict((conflict) => {
      const same = conflict.column('id')
      if (existing === 'leave') return same.doNothing()
      const replaced = [...Object.keys(columns).map(toColumnName), 'version', 'document', 'summary']
      const replacing = same.doUpdateSet(({ ref }) =>
        Object.fromEntries(replaced.map((column) => [column, ref(`excluded.${column}`)])),
      )
      return supersedes === undefined ? replacing : replacing.where((where) => isSuperseded(where, name, supersedes))
    })

const buildSelect = <O>(
  select: SelectQueryBuilder<StoredTables, string, O>,
  kind: Database['kind'],
  { where, orderBy = 'id', descending, after, limit }: RowQuery,
): SelectQueryBuilder<StoredTables, string, O> => {
  const column = toColumnName(orderBy)
  let page = select
    .where(createCondition(kind, where))
    .orderBy(column, descending ? 'desc' : 'asc')
    .orderBy('id')
  if (limit !== undefined) page = page.limit(limit)
  if (after === undefined) return page
  return page.where(({ and, eb, or }) =>
    or([eb(column, descending ? '<' : '>', after.value), and([eb(column, '=', after.value), eb('id', '>', after.id)])]),
  )
}

/** Converts a name to snake case. */
const toColumnName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const toStoredRow = ({ id, version, values, document, summary }: CollectionRow): StoredRow => ({
  id,
  ...Object.fromEntries(Object.entries(values).map(([name, value]) => [toColumnName(name), value])),
  version,
  document,
  summary,
})

type Where = ExpressionBuilder<StoredTables, string>

const isSuperseded = (
  { and, or, eb, ref }: Where,
  table: string,
  { grows, final }: SupersedingRule,
): Expression<SqlBool> => {
  const column = (name: string) => `${table}.${toColumnName(name)}`
  const excluded = (name: string) => `excluded.${toColumnName(name)}`
  const later = eb(column(grows), '<=', ref(excluded(grows)))
  return final === undefined
    ? later
    : and([later, or([eb(column(final), 'is', null), eb(excluded(final), 'is not', null)])])
}
type SupersedingRule = NonNullable<TableSpec['supersedes']>

const createCondition =
  (kind: Database['kind'], where: readonly ColumnCondition[]) =>
  ({ and, eb, or, ref }: Where): Expression<SqlBool> =>
    and(
      where.flatMap((condition): Expression<SqlBool>[] => {
        const column = toColumnName(condition.column)
        if ('isSet' in condition) return [eb(column, 'is not', null)]
        // Unlike LIKE, these functions match pattern characters literally.
        if ('contains' in condition)
          return [
            sql<SqlBool>`${sql.raw(kind === 'postgres' ? 'strpos' : 'instr')}(${ref(column)}, ${condition.contains}) > 0`,
          ]
        if ('among' in condition) {
          const values = condition.among.filter((value) => value !== null)
          const isNull = values.length < condition.among.length ? [eb(column, 'is', null)] : []
          return [or([...(values.length > 0 ? [eb(column, 'in', values)] : []), ...isNull])]
        }
        const { from, before } = condition
        return [
          ...(from === undefined ? [] : [eb(column, '>=', from)]),
          ...(before === undefined ? [] : [eb(column, '<', before)]),
        ]
      }),
    )

const createTable = async ({ kind, prefix }: Database, all: Kysely<unknown>, spec: TableSpec): Promise<void> => {
  const { name, columns, indexes = [] } = spec
  // SQLite compares texts by bytes by default.
  const id = kind === 'postgres' ? sql`text collate "C"` : ('text' as const)
  let creating = all.schema.createTable(name).addColumn('id', id, (column) => column.primaryKey())
  for (const [column, type] of Object.entries(columns))
    creating = creating.addColumn(toColumnName(column), type === 'integer' ? 'bigint' : 'text')
  await creating
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('summary', 'text')
    .execute()
  for (const [number, indexed] of indexes.entries())
    await all.schema.createIndex(`${prefix}${name}_${number}`).on(name).columns(indexed.map(toColumnName)).execute()
}
