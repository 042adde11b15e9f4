import type { HostReport } from '#proto/host-report.ts'
import { type KeptReport, listed, type ReportStore } from './store.ts'

const mostReports = 500

/** Kept by this process alone; a restart forgets them. */
export const memoryReports = (): ReportStore => {
  const reports = new Map<string, KeptReport>()
  const put = (report: HostReport, status: string): void => {
    // Written anew it is the youngest, and goes last when there is no room.
    reports.delete(report.id)
    reports.set(report.id, { report: structuredClone(report), delivery: { status, targets: [] } })
    for (const id of reports.keys()) {
      if (reports.size <= mostReports) return
      reports.delete(id)
    }
  }
  return {
    list: async ({ hostKey, limit }) =>
      [...reports.values()]
        .filter(({ report }) => hostKey === undefined || report.hostKey === hostKey)
        .map(({ report, delivery }) => listed(report, delivery.status))
        .toSorted((one, other) => other.writtenAtMs - one.writtenAtMs || (one.id < other.id ? -1 : 1))
        .slice(0, limit),
    get: async (id) => structuredClone(reports.get(id)),
    async add(report) {
      if (reports.has(report.id)) return false
      put(report, 'due')
      return true
    },
    replace: async (report) => put(report, 'none'),
    async settle(id, delivery) {
      const kept = reports.get(id)
      if (kept) reports.set(id, { ...kept, delivery: structuredClone(delivery) })
    },
    async prune(beforeMs) {
      const old = [...reports.values()].filter(({ report }) => report.writtenAtMs < beforeMs)
      for (const { report } of old) reports.delete(report.id)
      return old.length
    },
  }
}
