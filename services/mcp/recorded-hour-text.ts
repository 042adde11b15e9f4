import type { RecordedHour } from '#shared/tools/recorded-hour.ts'
import { formatRecords } from './result-rows.ts'

/** Returns the recorded hour of an unreachable host as tables with titles. Empty tables are omitted. */
export const formatRecordedHour = ({ load, queries, running, errors, lines, changes }: RecordedHour): string => {
  const tables = { load, queries, running, errors, lines, changes }
  return Object.entries(tables)
    .filter(([, records]) => records.length > 0)
    .map(([title, records]) => `${title}:\n${formatRecords(records)}`)
    .join('\n\n')
}
