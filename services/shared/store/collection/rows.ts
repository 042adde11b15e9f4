/** What a row has in a column. */
export type ColumnValue = string | number | null

/** What a column holds: text, or a whole number. */
export type ColumnType = 'text' | 'integer'

/** The table of a collection, as far as its driver needs to know it. */
export interface TableSpec {
  /** The name of the table, without prefix. */
  readonly name: string
  /** Columns beside the document: those that queries filter or order by. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Lists of columns to index; the primary key is the id. */
  readonly indexes?: readonly (readonly string[])[]
  /** Where a write may come late: it replaces only what it supersedes. */
  readonly supersedes?: {
    /** A number that grows: a write with a lower one changes nothing. */
    readonly grows: string
    /** A column that stays set once it is: a write without it changes nothing then. */
    readonly final?: string
  }
  /** What memory holds at most; the documents written longest ago go first. */
  readonly memory?: { readonly maxDocuments?: number; readonly maxCharacters?: number }
}

/** A document as its table has it. */
export interface Row {
  readonly id: string
  /** Another with every write, which shows a change made in between. */
  readonly version: string
  readonly values: Readonly<Record<string, ColumnValue>>
  /** JSON, as is the summary. */
  readonly document: string
  readonly summary: string | null
}

/** One condition on a column; all conditions of a query hold. */
export type Condition = { readonly column: string } & (
  | { readonly among: readonly ColumnValue[] }
  | { readonly from?: string | number | undefined; readonly before?: string | number | undefined }
  | { readonly contains: string }
  | { readonly isSet: true }
)

/** Where a row is in an order: what it is ordered by, and its id. */
export interface Place {
  readonly value: ColumnValue
  readonly id: string
}

/** One text of a row, and where the row is in the order of the query. */
export interface RowText extends Place {
  readonly text: string
}

/** Which rows are wanted. Rows of equal order, and those without one, go by their id. */
export interface RowQuery {
  readonly where: readonly Condition[]
  readonly orderBy?: string | undefined
  readonly descending?: boolean | undefined
  /** Rows behind this place. */
  readonly after?: Place | undefined
  readonly limit?: number | undefined
}

/** The rows of one table. Each call is atomic, but one that writes more than 500 rows, or removes more than 2,000, is so for each portion. */
export interface Rows {
  /** Adds rows; those whose id is known replace what they supersede, or are left out. Returns how many were written. */
  put(rows: readonly Row[], known: 'replace' | 'leave'): Promise<number>
  /** Writes the row where the present one has this version, or none is there for undefined; otherwise returns false. */
  swap(row: Row, version: string | undefined): Promise<boolean>
  get(id: string): Promise<Pick<Row, 'version' | 'document'> | undefined>
  /** Reads one text of each row. */
  texts(query: RowQuery, text: 'id' | 'document' | 'summary'): Promise<RowText[]>
  count(where: readonly Condition[]): Promise<number>
  remove(where: readonly Condition[]): Promise<number>
}

/** Where the rows of several tables are kept. */
export interface Tables {
  readonly kind: 'memory' | 'postgres' | 'sqlite'
  of(table: TableSpec): Rows
  /** Reports unreadable rows to the operator. */
  report(problem: string): void
  /** Runs a step all or nothing; with a name, while no other step of that name runs. */
  atomically<R>(step: (tables: Tables) => Promise<R>, alone: string | undefined): Promise<R>
}
