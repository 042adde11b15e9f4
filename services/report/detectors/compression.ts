import type { InsightRow } from '#proto/insight-rows.ts'
import { detector, nameOf, type Sight } from '../measures/detector.ts'
import { bytes, percent } from '../measures/words.ts'

const gibibyte = 1_024 ** 3
const worstShare = 0.7
const fewestRows = 2

/** A large table is hardly smaller than its data. */
export const compression = detector({
  kind: 'compression',
  signal: 'compressed size as a share of the data',
  window: 'now',
  sets: ['tables'],
  link: '/tables/storage-compression',
  detect({ tables }) {
    const large = tables.filter(({ compressedBytes }) => compressedBytes !== null && compressedBytes >= gibibyte)
    const single = large.filter(({ rows }) => rows < fewestRows)
    return {
      notes: single.map((row) => `compression: ${nameOf(row)} has too few rows to tell`),
      sights: large.filter(({ rows }) => rows >= fewestRows).flatMap((row) => sightOf(row) ?? []),
    }
  },
})

const sightOf = (row: InsightRow<'tables'>): Sight | undefined => {
  const { compressedBytes: compressed, uncompressedBytes: uncompressed } = row
  // Some kinds of parts do not know the size of their data.
  const value = compressed && uncompressed ? compressed / uncompressed : 0
  if (value < worstShare) return undefined
  return {
    subject: nameOf(row),
    severity: 'info',
    title: `${nameOf(row)} hardly compresses`,
    detail: `${bytes(uncompressed ?? 0)} of data take ${bytes(compressed ?? 0)}, which is ${percent(value)}; a codec or a sorting key that puts like rows together may help.`,
    baseline: worstShare,
    value,
    unit: 'share',
    score: null,
    confidence: 'high',
  }
}
