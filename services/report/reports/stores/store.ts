import type { HostReport, ListedReport, ReportDelivery } from '#proto/host-report.ts'

/** A report and what became of its delivery. */
export interface KeptReport {
  report: HostReport
  delivery: ReportDelivery
}

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
