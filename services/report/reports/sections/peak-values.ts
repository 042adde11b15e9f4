import type { HostReport } from '#proto/host-report.ts'
import type { ReportData } from '../report-data.ts'

type PeakValue = HostReport['worst'][number]

const peakNames: Readonly<Record<string, Pick<PeakValue, 'what' | 'unit'>>> = {
  MaxPartCountForPartition: { what: 'parts in one partition', unit: 'count' },
  ReplicasMaxAbsoluteDelay: { what: 'replication delay', unit: 'seconds' },
  ReplicasMaxQueueSize: { what: 'entries of a replication queue', unit: 'count' },
  MemoryResident: { what: 'resident memory of the server', unit: 'bytes' },
  LoadAverage15: { what: 'load over 15 minutes', unit: 'load' },
}

/** Returns the peak values of the period, and the age of the oldest unfinished mutation. */
export const collectPeakValues = ({ rows, mutations }: Pick<ReportData, 'rows' | 'mutations'>): PeakValue[] => {
  const peaks = (rows.peaks ?? []).flatMap(({ metric, value, atMs }) => {
    const named = peakNames[metric]
    return named && value !== null ? { ...named, value, atMs } : []
  })
  const [merges] = rows.merges ?? []
  const seconds = (mutations ?? []).map(({ ageSeconds }) => ageSeconds)
  return [
    ...peaks,
    ...(merges && merges.longestMs !== null && merges.merges > 0
      ? [{ what: 'longest merge', value: merges.longestMs / 1_000, unit: 'seconds' as const, atMs: null }]
      : []),
    ...(merges && merges.failed > 0
      ? [{ what: 'failed merges', value: merges.failed, unit: 'count' as const, atMs: null }]
      : []),
    ...(seconds.length > 0
      ? [
          {
            what: 'oldest unfinished mutation',
            value: Math.max(...seconds),
            unit: 'seconds' as const,
            atMs: null,
          },
        ]
      : []),
  ]
}
