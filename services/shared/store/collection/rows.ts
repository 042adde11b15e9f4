/** The value of a column. */
export type ColumnValue = string | number | null

/** The type of a column: text or integer. */
export type ColumnType = 'text' | 'integer'

/** The declaration of the table of a collection. */
export interface TableSpec {
  /** The name of the table, without prefix. */
  readonly name: string
  /** Columns in addition to the document, for filters and sorting. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The columns of each index, in addition to the primary key `id`. */
  readonly indexes?: readonly (readonly string[])[]
  /** The rules by which late writes are ignored. By default, every write replaces the stored row. */
  readonly supersedes?: {
    /** A column with an increasing number; a write with a lower number is ignored. */
    readonly grows: string
    /** A column that stays set: once a row has it, a write without it is ignored. */
    readonly final?: string
  }
  /** Limits of the table in memory; the oldest documents are dropped first. */
  readonly memory?: { readonly maxDocuments?: number; readonly maxCharacters?: number }
}

/** A row of a collection. */
export interface CollectionRow {
  readonly id: string
  /** The version of the row, for compare-and-set. Every write changes it. */
  readonly version: string
  readonly values: Readonly<Record<string, ColumnValue>>
  /** The document as JSON. */
  readonly document: string
  readonly summary: string | null
}

/** A condition on a column; the conditions of a query are combined with AND. */
export type ColumnCondition = { readonly column: string } & (
  | { readonly among: readonly ColumnValue[] }
  | { readonly from?: string | number | undefined; readonly before?: string | number | undefined }
  | { readonly contains: string }
  | { readonly isSet: true }
)

/** The position of a row in an order: its sort value and its id. */
export interface RowPosition {
  readonly value: ColumnValue
  readonly id: string
}

/** A text of a row (its id, document or summary), with the position of the row. */
export interface RowText extends RowPosition {
  readonly text: string
}

/** Filter, order and page of rows. Rows with equal sort values are ordered by id. */
export interface RowQuery {
  readonly where: readonly ColumnCondition[]
  readonly orderBy?: string | undefined
  readonly descending?: boolean | undefined
  /** Only rows after this position. */
  readonly after?: RowPosition | undefined
  readonly limit?: number | undefined
}

/**
 * The rows of one table. Calls of up to 500 written or 2,000 removed rows are atomic; larger calls are atomic per
 * batch.
 */
export interface RowTable {
  /**
   * Adds rows and returns how many were written. If a row with the same id is stored, `leave` keeps the stored row, and
   * `replace` overwrites it if the new row supersedes it.
   */
  put(rows: readonly CollectionRow[], existing: 'replace' | 'leave'): Promise<number>
  /**
   * Writes the row if the stored one has this version; undefined requires that none is stored. Returns whether it was
   * written.
   */
  swap(row: CollectionRow, version: string | undefined): Promise<boolean>
  get(id: string): Promise<Pick<CollectionRow, 'version' | 'document'> | undefined>
  /** Returns the requested text of each matching row. */
  texts(query: RowQuery, text: 'id' | 'document' | 'summary'): Promise<RowText[]>
  count(where: readonly ColumnCondition[]): Promise<number>
  remove(where: readonly ColumnCondition[]): Promise<number>
}

/** The tables of several collections. */
export interface CollectionTables {
  readonly kind: 'memory' | 'postgres' | 'sqlite'
  of(table: TableSpec): RowTable
  /** Reports unreadable rows to the operator. */
  report(problem: string): void
  /** Runs a step atomically. Steps with the same lock name run one at a time. */
  atomically<R>(step: (tables: CollectionTables) => Promise<R>, lockName: string | undefined): Promise<R>
}
