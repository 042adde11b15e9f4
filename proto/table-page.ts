import { z } from 'zod'

/** Text formats in which a host writes a table page for a file; the first row of csv and tsv has the names of the columns. */
export const exportFormats = ['csv', 'tsv', 'jsoneachrow'] as const
/** One of `exportFormats`. */
export const ExportFormat = z.enum(exportFormats)
export type ExportFormat = z.infer<typeof ExportFormat>

/** Most values that are offered for a filter. */
export const maxFilterOptions = 200

/** A value of a column as a filter takes it, and the rows that have it. */
export const FilterOption = z.object({ value: z.string(), rows: z.number().int() })
export type FilterOption = z.infer<typeof FilterOption>

/** A table of a host that people made; `totalRows` is null where the engine does not know it. */
export const DatabaseTable = z.object({
  database: z.string(),
  table: z.string(),
  engine: z.string(),
  totalRows: z.number().nullable().optional(),
})
export type DatabaseTable = z.infer<typeof DatabaseTable>
/** Most names of tables in one answer. */
export const maxDatabaseTables = 10_000
