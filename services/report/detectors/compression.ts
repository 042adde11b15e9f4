import type { InsightRow } from '#proto/insight-rows.ts'
import { defineDetector, formatTableName, type Observation } from '../detection/detector.ts'
import { formatBytes, formatPercent } from '../format.ts'

const gibibyte = 1_024 ** 3
const minPoorShare = 0.7
const minRows = 2

/** Detects large tables with poor compression. */
export const compressionDetector = defineDetector({
  kind: 'compression',
  signal: 'compressed size relative to uncompressed size',
  window: 'now',
  sets: ['tables'],
  link: '/tables/storage-compression',
  detect({ tables }) {
    const large = tables.filter(({ compressedBytes }) => compressedBytes !== null && compressedBytes >= gibibyte)
    const single = large.filter(({ rows }) => rows < minRows)
    return {
      notes: single.map((row) => `compression: ${formatTableName(row)} has too few rows`),
      observations: large.filter(({ rows }) => rows >= minRows).flatMap((row) => createObservation(row) ?? []),
    }
  },
})

const createObservation = (row: InsightRow<'tables'>): Observation | undefined => {
  const { compressedBytes: compressed, uncompressedBytes: uncompressed } = row
  // Some part types do not report the uncompressed size.
  const value = compressed && uncompressed ? compressed / uncompressed : 0
  if (value < minPoorShare) return undefined
  return {
    subject: formatTableName(row),
    severity: 'info',
    title: `${formatTableName(row)} hardly compresses`,
    detail: `${formatBytes(uncompressed ?? 0)} of data compress to ${formatBytes(compressed ?? 0)} (${formatPercent(value)}); a codec, or a sorting key that groups similar values, may help.`,
    baseline: minPoorShare,
    value,
    unit: 'share',
    score: null,
    confidence: 'high',
  }
}
