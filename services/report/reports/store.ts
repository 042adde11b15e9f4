import type { Logger } from 'pino'
import { z } from 'zod'
import { HostReport, ListedReport, ReportDelivery } from '#proto/host-report.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type Collections, defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import { openStateDatabase } from '#shared/store/sql/open-state-database.ts'

/** A report and what became of its delivery. */
const KeptReport = z.object({ report: HostReport, delivery: ReportDelivery })
export type KeptReport = z.infer<typeof KeptReport>

/** Where reports are kept. One id is one report. */
export interface ReportStore {
  /** The newest first. */
  list(filter: { hostKey?: string | undefined; limit: number }): Promise<ListedReport[]>
  get(id: string): Promise<KeptReport | undefined>
  /** Keeps a report that is to be delivered, unless there is one of its id; says whether it was kept. */
  add(report: HostReport): Promise<boolean>
  /** Keeps a report that nobody is told of, in place of one of its id. */
  replace(report: HostReport): Promise<void>
  /** Puts on record what became of a delivery. */
  settle(id: string, delivery: ReportDelivery): Promise<void>
  /** Removes those written before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** What a list says of a report. */
export const listed = (
  { id, hostKey, host, week, zone, fromMs, toMs, writtenAtMs, score, verdict }: HostReport,
  delivery: string,
): ListedReport => ({ id, hostKey, host, week, zone, fromMs, toMs, writtenAtMs, score, verdict, delivery })

const keptReports = defineCollection({
  name: 'watchhouse_reports',
  schema: KeptReport,
  columns: { hostKey: 'text', writtenAtMs: 'integer' },
  indexes: [['hostKey', 'writtenAtMs'], ['writtenAtMs']],
  memory: { maxDocuments: 500 },
  idOf: ({ report }) => report.id,
  valuesOf: ({ report }) => report,
  summary: { schema: ListedReport, of: ({ report, delivery }) => listed(report, delivery.status) },
})

/** A store of reports; disposing it closes what was opened for it. */
export interface OpenReports extends AsyncDisposable {
  reports: ReportStore
  /** Whether they outlive this process. */
  lasting: boolean
}

/** Reports in the state database where there is one, else in memory. */
export const openReports = async (env: Environment, log: Logger): Promise<OpenReports> => {
  await using opening = new AsyncDisposableStack()
  const database = await openStateDatabase(env, log)
  if (database) opening.use(database)
  const reports = reportsIn(await openCollections('reports', [keptReports], database))
  const opened = opening.move()
  return { reports, lasting: database !== undefined, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const reportsIn = (collections: Collections): ReportStore => {
  const reports = collections.of(keptReports)
  return {
    list: ({ hostKey, limit }) =>
      reports.summaries({ where: { hostKey }, orderBy: 'writtenAtMs', descending: true, limit }),
    get: (id) => reports.get(id),
    add: async (report) => (await reports.add([{ report, delivery: { status: 'due', targets: [] } }])) === 1,
    replace: (report) => reports.put([{ report, delivery: { status: 'none', targets: [] } }]),
    async settle(id, delivery) {
      await reports.change(id, (kept) => kept && { ...kept, delivery })
    },
    prune: (beforeMs) => reports.remove({ writtenAtMs: { before: beforeMs } }),
  }
}
