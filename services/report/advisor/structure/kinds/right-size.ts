import { formatNumber } from '../../../format.ts'
import type { TableAdvisor } from '../table-facts.ts'

const minRows = 10_000
/** The smaller type must hold values that are this many times as large as the current ones. */
const headroom = 4
const integerSizes = [8, 16, 32] as const

/** Recommends smaller integer types that fit the values. Key columns are skipped: their type cannot be changed. */
export const adviseOnIntegerSize: TableAdvisor = ({ name, sql, columns, sampled, counted }) =>
  columns.flatMap((column) => {
    const [, isUnsigned, bits] = /^(U?)Int(16|32|64)$/.exec(column.type) ?? []
    const counts = counted.get(column.name)
    if (bits === undefined || !counts || sampled < minRows || isInKey(column)) return []
    const { minimum, maximum } = counts
    if (minimum === null || maximum === null) return []
    const fits = (size: number): boolean =>
      isUnsigned
        ? maximum * headroom < 2 ** size
        : Math.max(Math.abs(minimum), Math.abs(maximum)) * headroom < 2 ** (size - 1)
    const size = integerSizes.find((each) => each < Number(bits) && fits(each))
    if (size === undefined) return []
    const type = `${isUnsigned ? 'UInt' : 'Int'}${size}`
    const before = column.uncompressedBytes
    return {
      kind: 'right-size' as const,
      subject: `${name}.${column.name}`,
      title: `${column.name} as ${type}`,
      rationale: `The values in ${formatNumber(sampled)} rows are from ${formatNumber(minimum)} to ${formatNumber(maximum)}, and ${type} can hold values ${headroom} times as large.`,
      ddl: `ALTER TABLE ${sql} MODIFY COLUMN ${column.sql} ${type}`,
      proof: 'estimated' as const,
      savings:
        before === null
          ? null
          : {
              bytesBefore: before,
              bytesAfter: Math.round((before * size) / Number(bits)),
              of: 'uncompressed' as const,
            },
      risk: 'Larger values inserted later overflow silently. The ALTER rewrites the column as a mutation.',
    }
  })

const isInKey = (column: {
  isInSortingKey: boolean
  isInPartitionKey: boolean
  isInPrimaryKey: boolean
  isInSamplingKey: boolean
}): boolean => column.isInSortingKey || column.isInPartitionKey || column.isInPrimaryKey || column.isInSamplingKey
