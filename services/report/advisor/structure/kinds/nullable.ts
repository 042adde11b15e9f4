import { figure } from '../../../measures/words.ts'
import type { Kind } from '../facts.ts'

const fewestRows = 10_000

/** Columns that may be NULL and never are. */
export const nullable: Kind = ({ name, sql, overview, columns, sampled, counted }) =>
  columns.flatMap((column) => {
    const type = /^Nullable\((.+)\)$/.exec(column.type)?.[1]
    const counts = counted.get(column.name)
    if (type === undefined || !counts || counts.nulls > 0 || sampled < fewestRows || column.isInSortingKey) return []
    const rows = overview.rows ?? sampled
    const before = column.uncompressedBytes
    return {
      kind: 'nullable' as const,
      subject: `${name}.${column.name}`,
      title: `${column.name} need not be Nullable`,
      rationale: `None of ${figure(sampled)} rows is NULL there. A Nullable column keeps a mask of a byte for each row, which is read with it, and cannot be in most indexes.`,
      ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} ${type}`,
      proof: 'estimated' as const,
      savings:
        before === null
          ? null
          : { bytesBefore: before, bytesAfter: Math.max(0, before - rows), of: 'uncompressed' as const },
      risk: 'Inserts of NULL become the default of the type, or fail; the ALTER fails where a NULL is found after all. It rewrites the column as a mutation.',
    }
  })
