import type { HostReport, ReportedDisk } from '#proto/host-report.ts'
import type { InsightRow } from '#proto/insight-rows.ts'
import type { ReportRow } from '#proto/report-rows.ts'
import { forecastDisk, selectKnownDiskHours, describeForecast } from '../../detection/forecast.ts'
import type { ReportData } from '../report-data.ts'

type DiskHours = ReturnType<typeof selectKnownDiskHours>

const hourMs = 3_600_000
/** Growth is reported only if the first sample is at most this many hours after the start of the period. */
const maxStartOffsetHours = 6

/** Returns the disks at the end of the period, with growth and forecast. */
export const summarizeDisks = (
  rows: readonly ReportRow<'disk-hours'>[],
  { period, writtenAtMs, recordOfDisk }: Pick<ReportData, 'period' | 'writtenAtMs' | 'recordOfDisk'>,
): ReportedDisk[] => {
  const periodHours = (Math.min(period.toMs, writtenAtMs) - period.fromMs) / hourMs
  const disks = Map.groupBy(selectKnownDiskHours(rows), ({ disk }) => disk)
  return [...disks].map(([disk, hours]) => ({
    ...summarizeDisk(disk, hours, periodHours),
    forecastRecord: recordOfDisk(disk),
  }))
}

const summarizeDisk = (disk: string, hours: DiskHours, periodHours: number): Omit<ReportedDisk, 'forecastRecord'> => {
  const oldestFirst = hours.toSorted((one, other) => other.hoursAgo - one.hoursAgo)
  const last = oldestFirst.at(-1)
  const begin = oldestFirst.find(({ hoursAgo }) => hoursAgo < periodHours)
  const forecast = forecastDisk(hours)
  const growth = typeof forecast === 'object' ? forecast.growth : null
  return {
    disk,
    usedBytes: last?.usedBytes ?? 0,
    totalBytes: last?.totalBytes ?? 0,
    grewBytes:
      begin && last && periodHours - begin.hoursAgo <= maxStartOffsetHours
        ? Math.round(last.usedBytes - begin.usedBytes)
        : null,
    daysToFull: growth && { soonest: growth.soonest, latest: growth.latest },
    forecast: describeForecast(forecast),
  }
}

const maxTables = 5

/** Returns the largest tables and the bytes inserted into them. */
export const findLargestTables = (
  tables: readonly InsightRow<'tables'>[],
  written: readonly ReportRow<'written'>[] | undefined,
): HostReport['tables'] =>
  tables
    .toSorted((one, other) => (other.compressedBytes ?? 0) - (one.compressedBytes ?? 0))
    .slice(0, maxTables)
    .map(({ database, table, rows, compressedBytes }) => {
      const ofTable = written?.find((row) => row.database === database && row.table === table)
      const nothing = written ? 0 : null
      return {
        table: `${database}.${table}`,
        rows,
        bytes: compressedBytes,
        writtenBytes: ofTable?.bytes ?? nothing,
        writtenBytesBefore: ofTable?.bytesBefore ?? nothing,
      }
    })
