import type { InsightRow } from '#proto/insight-rows.ts'
import { defineDetector, qualifiedName, type Observation } from '../measures/detector.ts'
import { formatBytes, formatPercent } from '../measures/format.ts'

const gibibyte = 1_024 ** 3
const worstShare = 0.7
const minRows = 2

/** Detects large tables with poor compression. */
export const compression = defineDetector({
  kind: 'compression',
  signal: 'compressed size relative to uncompressed size',
  window: 'now',
  sets: ['tables'],
  link: '/tables/storage-compression',
  detect({ tables }) {
    const large = tables.filter(({ compressedBytes }) => compressedBytes !== null && compressedBytes >= gibibyte)
    const single = large.filter(({ rows }) => rows < minRows)
    return {
      notes: single.map((row) => `compression: ${qualifiedName(row)} has too few rows`),
      observations: large.filter(({ rows }) => rows >= minRows).flatMap((row) => observationOf(row) ?? []),
    }
  },
})

const observationOf = (row: InsightRow<'tables'>): Observation | undefined => {
  const { compressedBytes: compressed, uncompressedBytes: uncompressed } = row
  // Some part types do not report the uncompressed size.
  const value = compressed && uncompressed ? compressed / uncompressed : 0
  if (value < worstShare) return undefined
  return {
    subject: qualifiedName(row),
    severity: 'info',
    title: `${qualifiedName(row)} hardly compresses`,
    detail: `${formatBytes(uncompressed ?? 0)} of data compress to ${formatBytes(compressed ?? 0)} (${formatPercent(value)}); a codec, or a sorting key that groups similar values, may help.`,
    baseline: worstShare,
    value,
    unit: 'share',
    score: null,
    confidence: 'high',
  }
}
