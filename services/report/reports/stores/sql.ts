import type { Kysely } from 'kysely'
import { HostReport, ListedReport, ReportDelivery } from '#proto/host-report.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { createHostTable } from '../../host-table.ts'
import { type KeptReport, listed, type ReportStore } from './store.ts'

const table = 'watchhouse_reports'

/** What is asked for has a column; `listing`, `report` and `delivery` are JSON. */
interface ReportTables {
  [table]: {
    id: string
    host_key: string
    written_at_ms: number
    listing: string
    report: string
    status: string
    delivery: string
  }
}

/** Kept in the state database. */
export const sqlReports = async (database: Database): Promise<ReportStore> => {
  const { prefix } = database
  await migrate(database, 'reports', [table], [{ name: 'reports', up: (tables) => createTable(tables, prefix) }])
  const tables = database.tables<ReportTables>([table])
  return {
    async list({ hostKey, limit }) {
      const found = tables
        .selectFrom(table)
        .select(['listing', 'status'])
        .$if(hostKey !== undefined, (all) => all.where('host_key', '=', hostKey ?? ''))
        .orderBy('written_at_ms', 'desc')
        .orderBy('id')
        .limit(limit)
      return (await database.run(() => found.execute())).flatMap(readListing)
    },
    async get(id) {
      const found = tables.selectFrom(table).select(['report', 'delivery']).where('id', '=', id)
      const row = await database.run(() => found.executeTakeFirst())
      return row && readKept(row)
    },
    async add(report) {
      const adding = tables
        .insertInto(table)
        .values(rowOf(report, 'due'))
        .onConflict((conflict) => conflict.column('id').doNothing())
      return Number((await database.run(() => adding.executeTakeFirst())).numInsertedOrUpdatedRows) === 1
    },
    async replace(report) {
      const { id: _id, ...changed } = rowOf(report, 'none')
      const putting = tables
        .insertInto(table)
        .values(rowOf(report, 'none'))
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changed))
      await database.run(() => putting.execute())
    },
    async settle(id, delivery) {
      const changed = { status: delivery.status, delivery: JSON.stringify(delivery) }
      await database.run(() => tables.updateTable(table).set(changed).where('id', '=', id).execute())
    },
    async prune(beforeMs) {
      const removing = tables.deleteFrom(table).where('written_at_ms', '<', beforeMs)
      return Number((await database.run(() => removing.executeTakeFirst())).numDeletedRows)
    },
  }
}

const createTable = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  const texts = ['listing', 'report', 'status', 'delivery']
  await createHostTable(tables, { name: table, prefix, at: 'written_at_ms', texts })
  await tables.schema.createIndex(`${prefix}${table}_written`).on(table).column('written_at_ms').execute()
}

const rowOf = (report: HostReport, status: string) => ({
  id: report.id,
  host_key: report.hostKey,
  written_at_ms: report.writtenAtMs,
  listing: JSON.stringify(listed(report, status)),
  report: JSON.stringify(report),
  status,
  delivery: JSON.stringify({ status, targets: [] }),
})

/** None for one that a release wrote whose reports this one cannot read. */
const readListing = ({ listing, status }: { listing: string; status: string }): ListedReport[] => {
  const read = ListedReport.safeParse({ ...JSON.parse(listing), delivery: status })
  return read.success ? [read.data] : []
}

const readKept = (row: { report: string; delivery: string }): KeptReport | undefined => {
  const report = HostReport.safeParse(JSON.parse(row.report))
  return report.success ? { report: report.data, delivery: ReportDelivery.parse(JSON.parse(row.delivery)) } : undefined
}
