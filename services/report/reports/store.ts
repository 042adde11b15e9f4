import type { Logger } from 'pino'
import { z } from 'zod'
import { HostReport, ListedReport, ReportDeliveryStatus } from '#proto/host-report.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type Collections, defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import { openStateDatabase } from '#shared/store/sql/state-database.ts'

/** A report and the state of its delivery. */
const StoredReport = z.object({ report: HostReport, delivery: ReportDeliveryStatus })
export type StoredReport = z.infer<typeof StoredReport>

/** Stores reports by id. */
export interface ReportStore {
  /** Returns the list entries, newest first. */
  list(filter: { hostKey?: string | undefined; limit: number }): Promise<ListedReport[]>
  get(id: string): Promise<StoredReport | undefined>
  /** Adds a report with a pending delivery, unless its id exists. Returns whether it was added. */
  add(report: HostReport): Promise<boolean>
  /** Stores a report that is not delivered. Replaces an existing report with the same id. */
  replace(report: HostReport): Promise<void>
  /** Records the result of a delivery. */
  recordDelivery(id: string, delivery: ReportDeliveryStatus): Promise<void>
  /** Removes the reports written before a time and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Returns the list entry of a report. */
export const toListedReport = (
  { id, hostKey, host, week, zone, fromMs, toMs, writtenAtMs, score, headline }: HostReport,
  delivery: string,
): ListedReport => ({ id, hostKey, host, week, zone, fromMs, toMs, writtenAtMs, score, headline, delivery })

const storedReports = defineCollection({
  name: 'watchhouse_reports',
  schema: StoredReport,
  columns: { hostKey: 'text', writtenAtMs: 'integer' },
  indexes: [['hostKey', 'writtenAtMs'], ['writtenAtMs']],
  memory: { maxDocuments: 500 },
  idOf: ({ report }) => report.id,
  valuesOf: ({ report }) => report,
  summary: { schema: ListedReport, of: ({ report, delivery }) => toListedReport(report, delivery.status) },
})

/** An open report store. Disposal closes its database. */
export interface DisposableReportStore extends AsyncDisposable {
  reports: ReportStore
  /** Whether reports survive a restart. */
  persistent: boolean
}

/** Opens the report store in the state database if one is configured, otherwise in memory. */
export const openReportStore = async (env: Environment, log: Logger): Promise<DisposableReportStore> => {
  await using opening = new AsyncDisposableStack()
  const database = await openStateDatabase(env, log)
  if (database) opening.use(database)
  const reports = createReportStore(await openCollections('reports', [storedReports], database))
  const opened = opening.move()
  return { reports, persistent: database !== undefined, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const createReportStore = (collections: Collections): ReportStore => {
  const reports = collections.of(storedReports)
  return {
    list: ({ hostKey, limit }) =>
      reports.summaries({ where: { hostKey }, orderBy: 'writtenAtMs', descending: true, limit }),
    get: (id) => reports.get(id),
    add: async (report) => (await reports.add([{ report, delivery: { status: 'due', targets: [] } }])) === 1,
    replace: (report) => reports.put([{ report, delivery: { status: 'none', targets: [] } }]),
    async recordDelivery(id, delivery) {
      await reports.change(id, (stored) => stored && { ...stored, delivery })
    },
    prune: (beforeMs) => reports.remove({ writtenAtMs: { before: beforeMs } }),
  }
}
