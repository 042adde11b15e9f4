import { formatNumber } from '../../../format.ts'
import type { TableAdvisor } from '../table-facts.ts'

const minRows = 10_000

/** Recommends removing Nullable from columns without NULLs. */
export const adviseOnNullable: TableAdvisor = ({ name, sql, overview, columns, sampled, counted }) =>
  columns.flatMap((column) => {
    const type = /^Nullable\((.+)\)$/.exec(column.type)?.[1]
    const counts = counted.get(column.name)
    if (type === undefined || !counts || counts.nulls > 0 || sampled < minRows || column.isInSortingKey) return []
    const rows = overview.rows ?? sampled
    const before = column.uncompressedBytes
    return {
      kind: 'nullable' as const,
      subject: `${name}.${column.name}`,
      title: `${column.name} need not be Nullable`,
      rationale: `None of ${formatNumber(sampled)} rows is NULL. A Nullable column stores and reads an extra byte per row, and cannot be used in most indexes.`,
      ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} ${type}`,
      proof: 'estimated' as const,
      savings:
        before === null
          ? null
          : { bytesBefore: before, bytesAfter: Math.max(0, before - rows), of: 'uncompressed' as const },
      risk: 'Inserted NULLs become the default of the type, or fail; the ALTER fails if the column contains a NULL. It rewrites the column as a mutation.',
    }
  })
