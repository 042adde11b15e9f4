import { formatBytes } from '../../../format.ts'
import type { TableAdvisor } from '../table-facts.ts'

const minBytes = 1_024 ** 3
const minShare = 0.2

/** Recommends a TTL for tables without one, if much of their data is older than a year. */
export const adviseOnTtl: TableAdvisor = ({ name, sql, overview, columns, oldBytes }) => {
  const total = overview.compressedBytes ?? 0
  if (/\bTTL\b/.test(overview.engineFull) || oldBytes < minBytes || oldBytes < minShare * total) return []
  const time = columns.find(({ type, isInPartitionKey }) => isInPartitionKey && /^(Date|DateTime)/.test(type))
  return [
    {
      kind: 'ttl',
      subject: name,
      title: 'TTL or cold storage for old data',
      rationale: `${formatBytes(oldBytes)} of ${formatBytes(total)} are in parts whose rows are all older than a year, and the table has no TTL.`,
      ddl: time ? `ALTER TABLE ${sql} MODIFY TTL toDateTime(${time.sql}) + INTERVAL 1 YEAR` : null,
      proof: 'estimated',
      savings: { bytesBefore: total, bytesAfter: total - oldBytes, of: 'stored' },
      risk: 'A TTL deletes data permanently. Check how long the data must be kept; TO VOLUME moves it instead.',
    },
  ]
}
