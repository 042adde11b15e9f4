import { bytes } from '../../../measures/words.ts'
import type { Kind } from '../facts.ts'

const leastBytes = 1_024 ** 3
const leastShare = 0.2

/** Much of a large table is older than a year, and nothing removes it. */
export const ttl: Kind = ({ name, sql, overview, columns, oldBytes }) => {
  const total = overview.compressedBytes ?? 0
  if (/\bTTL\b/.test(overview.engineFull) || oldBytes < leastBytes || oldBytes < leastShare * total) return []
  const time = columns.find(({ type, isInPartitionKey }) => isInPartitionKey && /^(Date|DateTime)/.test(type))
  return [
    {
      kind: 'ttl',
      subject: name,
      title: 'A TTL, or colder storage for what is old',
      rationale: `${bytes(oldBytes)} of ${bytes(total)} are in parts whose rows are all older than a year, and the table has no TTL.`,
      ddl: time ? `ALTER TABLE ${sql} MODIFY TTL toDateTime(${time.sql}) + INTERVAL 1 YEAR` : null,
      proof: 'estimated',
      savings: { bytesBefore: total, bytesAfter: total - oldBytes, of: 'stored' },
      risk: 'What a TTL removes is gone. How long it must be kept is for its owners to say; TO VOLUME moves it instead.',
    },
  ]
}
