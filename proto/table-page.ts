import { z } from 'zod'

/** File formats for exports of table pages. The first row of csv and tsv contains the column names. */
export const exportFormats = ['csv', 'tsv', 'jsoneachrow'] as const
/** The file format of an export. */
export const ExportFormat = z.enum(exportFormats)
export type ExportFormat = z.infer<typeof ExportFormat>

/** Maximum values that a filter offers for one column. */
export const maxFilterOptions = 200

/** A filter value of a column, and its number of rows. */
export const FilterOption = z.object({ value: z.string(), rows: z.number().int() })
export type FilterOption = z.infer<typeof FilterOption>

/** A table outside the system databases. `totalRows` is null if the engine does not report it. */
export const DatabaseTable = z.object({
  database: z.string(),
  table: z.string(),
  engine: z.string(),
  totalRows: z.number().nullable().optional(),
})
export type DatabaseTable = z.infer<typeof DatabaseTable>
/** Maximum table names in one response. */
export const maxDatabaseTables = 10_000
