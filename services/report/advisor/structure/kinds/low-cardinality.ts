import { figure } from '../../../measures/words.ts'
import type { Kind } from '../facts.ts'

const fewestRows = 10_000
/** Beyond this a dictionary costs more than it saves. */
const mostValues = 10_000
const mostShare = 0.1
/** A dictionary of up to so many values is told by one byte for each row, otherwise by two. */
const oneByteValues = 255

/** Texts of few different values, of which a dictionary is kept instead. */
export const lowCardinality: Kind = ({ name, sql, overview, columns, sampled, counted }) =>
  columns.flatMap((column) => {
    const counts = counted.get(column.name)
    if (!/^(Nullable\()?(String|FixedString)/.test(column.type) || !counts || sampled < fewestRows) return []
    if (counts.distinct > mostValues || counts.distinct > mostShare * sampled || column.isInSortingKey) return []
    const before = column.uncompressedBytes
    const after = (overview.rows ?? sampled) * (counts.distinct <= oneByteValues ? 1 : 2)
    if (before === null || after >= before) return []
    return {
      kind: 'low-cardinality' as const,
      subject: `${name}.${column.name}`,
      title: `${column.name} as LowCardinality`,
      rationale: `${figure(sampled)} rows have ${figure(counts.distinct)} different values there. A dictionary keeps each of them once, and is compared and grouped by number.`,
      ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} LowCardinality(${column.type})`,
      proof: 'estimated' as const,
      savings: { bytesBefore: before, bytesAfter: after, of: 'uncompressed' as const },
      risk: 'Where many more values come later it is slower than plain text. The ALTER rewrites the column as a mutation.',
    }
  })
