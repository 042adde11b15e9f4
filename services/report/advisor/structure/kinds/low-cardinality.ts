import { formatNumber } from '../../../format.ts'
import type { TableAdvisor } from '../table-facts.ts'

const minRows = 10_000
/** Maximum number of distinct values. Larger dictionaries cost more than they save. */
const maxValues = 10_000
const maxShare = 0.1
/** Maximum number of values in a dictionary with one-byte keys. Larger dictionaries have two-byte keys. */
const maxOneByteValues = 255

/** Recommends LowCardinality for strings with few distinct values. */
export const adviseOnLowCardinality: TableAdvisor = ({ name, sql, overview, columns, sampled, counted }) =>
  columns.flatMap((column) => {
    const counts = counted.get(column.name)
    if (!/^(Nullable\()?(String|FixedString)/.test(column.type) || !counts || sampled < minRows) return []
    if (counts.distinct > maxValues || counts.distinct > maxShare * sampled || column.isInSortingKey) return []
    const before = column.uncompressedBytes
    const after = (overview.rows ?? sampled) * (counts.distinct <= maxOneByteValues ? 1 : 2)
    if (before === null || after >= before) return []
    return {
      kind: 'low-cardinality' as const,
      subject: `${name}.${column.name}`,
      title: `${column.name} as LowCardinality`,
      rationale: `${formatNumber(sampled)} rows have ${formatNumber(counts.distinct)} distinct values. A dictionary stores each once, and comparisons and grouping use its integer keys.`,
      ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} LowCardinality(${column.type})`,
      proof: 'estimated' as const,
      savings: { bytesBefore: before, bytesAfter: after, of: 'uncompressed' as const },
      risk: 'If many more distinct values are inserted later, it is slower than String. The ALTER rewrites the column as a mutation.',
    }
  })
