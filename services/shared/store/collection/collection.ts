import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { parseJson } from '../../text/strings.ts'
import type { Database } from '../sql/connection.ts'
import { createMemoryTables } from './memory-rows.ts'
import type {
  ColumnType,
  ColumnValue,
  ColumnCondition,
  RowPosition,
  CollectionRow,
  RowQuery,
  RowText,
  TableSpec,
  CollectionTables,
} from './rows.ts'

type Columns = Readonly<Record<string, ColumnType>>
type ValueOf<K extends ColumnType | undefined> = K extends 'integer' ? number : string

/**
 * The declaration of a collection of JSON documents. Its columns contain the values that queries filter or order by.
 */
export interface CollectionSpec<T, C extends Columns, S> extends TableSpec {
  readonly columns: C
  readonly schema: z.ZodType<T>
  idOf(document: NoInfer<T>): string
  /** Returns the column values of a document; properties that are not columns are ignored. */
  valuesOf(document: NoInfer<T>): { readonly [K in keyof C]: ValueOf<C[K]> | null }
  /** The schema and derivation of a summary for lists, if whole documents are too expensive to read. */
  readonly summary?: { readonly schema: z.ZodType<S>; of(document: NoInfer<T>): S }
  /** Returns a placeholder for an unreadable document. Without this function, such documents are omitted. */
  unreadable?(id: string): NoInfer<T>
}

/** Returns the declaration unchanged, with inferred types. */
export const defineCollection = <T, const C extends Columns, S = never>(
  spec: CollectionSpec<T, C, S>,
): CollectionSpec<T, C, S> => spec

/**
 * A condition on a column: a value or null, one of several values, a range, a contained text, or not null. Undefined
 * does not filter.
 */
type Criterion<V> =
  | V
  | null
  | readonly (V | null)[]
  | { readonly from?: V | undefined; readonly before?: V | undefined }
  | { readonly contains: string | undefined }
  | { readonly isSet: true }

/** Conditions by column; the id is one of the columns. */
export type DocumentFilter<C extends Columns> = { readonly [K in keyof C]?: Criterion<ValueOf<C[K]>> | undefined } & {
  readonly id?: Criterion<string> | undefined
}

/** Filter and order of documents; by default all documents by id. */
export interface CollectionQuery<C extends Columns> {
  readonly where?: DocumentFilter<C>
  /** Column to order by. Default: the id. Documents with equal values are ordered by ascending id. */
  readonly orderBy?: keyof C & string
  readonly descending?: boolean
  /** Only documents after this position. */
  readonly after?: RowPosition | undefined
  readonly limit?: number | undefined
}

/** A page of a list, with the position after which the next page starts; undefined on the last page. */
export interface Page<T> {
  readonly documents: T[]
  readonly next: RowPosition | undefined
}

/**
 * Documents of one kind. An unreadable document (damaged, or written by another release) is omitted and reported; it
 * stays stored.
 */
export interface Collection<T, C extends Columns, S> {
  /** Adds documents. Replaces those with the same id, unless `supersedes` forbids it. */
  put(documents: readonly T[]): Promise<void>
  /** Adds documents with new ids only; returns their number. */
  add(documents: readonly T[]): Promise<number>
  get(id: string): Promise<T | undefined>
  list(query?: CollectionQuery<C>): Promise<T[]>
  summaries(query?: CollectionQuery<C>): Promise<S[]>
  /** Lists one page of documents. */
  page(query: CollectionQuery<C> & { limit: number }): Promise<Page<T>>
  summaryPage(query: CollectionQuery<C> & { limit: number }): Promise<Page<S>>
  ids(query?: CollectionQuery<C>): Promise<string[]>
  count(where?: DocumentFilter<C>): Promise<number>
  /**
   * Replaces a document with the result of `next`. If `next` returns undefined, nothing is changed. `next` runs again
   * after a concurrent change; throws `busy` if conflicts persist.
   */
  change<R extends T | undefined>(
    id: string,
    next: (present: T | undefined) => R,
  ): Promise<{ before: T | undefined; after: R }>
  /** Removes matching documents; returns their number. */
  remove(where: DocumentFilter<C>): Promise<number>
}

/** Collections in one database or in memory. */
export interface Collections {
  readonly kind: CollectionTables['kind']
  of<T, C extends Columns, S>(spec: CollectionSpec<T, C, S>): Collection<T, C, S>
  /** Runs a step on these collections, atomically in a database. Steps with the same lock name run one at a time. */
  atomically<R>(step: (within: Collections) => Promise<R>, lockName?: string): Promise<R>
}

/**
 * Opens collections in tables of the database, or in memory without a database. `owner` identifies the migrations of
 * the tables.
 */
export const openCollections = async (
  owner: string,
  specs: readonly TableSpec[],
  database: Database | undefined,
): Promise<Collections> => {
  if (database === undefined) return createMemoryCollections()
  // Imported only with a database, because Kysely is large.
  const { openSqlTables: sqlTables } = await import('./sql-rows.ts')
  return createCollections(await sqlTables(database, owner, specs))
}

/** Opens collections in memory. */
export const createMemoryCollections = (): Collections => createCollections(createMemoryTables())

const createCollections = (tables: CollectionTables): Collections => ({
  kind: tables.kind,
  of: (spec) => createCollection(tables, spec),
  atomically: (step, lockName) => tables.atomically((within) => step(createCollections(within)), lockName),
})

const maxConflicts = 20

const createCollection = <T, C extends Columns, S>(
  tables: CollectionTables,
  spec: CollectionSpec<T, C, S>,
): Collection<T, C, S> => {
  const rows = tables.of(spec)
  const { documents, summaries } = createReaders(tables, spec)
  const rowsOf = (written: readonly T[]) => written.map((document) => toRow(spec, document))
  const pageOf = async <D>(
    query: CollectionQuery<C> & { limit: number },
    text: 'document' | 'summary',
    readAll: (texts: readonly RowText[]) => D[],
  ): Promise<Page<D>> => {
    // Reads one row more than the limit to find out whether there is a next page.
    const texts = await rows.texts(toRowQuery({ ...query, limit: query.limit + 1 }), text)
    const page = texts.slice(0, query.limit)
    return { documents: readAll(page), next: page.length < texts.length ? page.at(-1) : undefined }
  }
  return {
    async put(written) {
      await rows.put(rowsOf(written), 'replace')
    },
    add: (written) => rows.put(rowsOf(written), 'leave'),
    async get(id) {
      const row = await rows.get(id)
      return row && documents([{ id, text: row.document }])[0]
    },
    list: async (query) => documents(await rows.texts(toRowQuery(query), 'document')),
    summaries: async (query) => summaries(await rows.texts(toRowQuery(query), 'summary')),
    page: (query) => pageOf(query, 'document', documents),
    summaryPage: (query) => pageOf(query, 'summary', summaries),
    ids: async (query) => (await rows.texts(toRowQuery(query), 'id')).map(({ id }) => id),
    count: (where) => rows.count(toConditions(where)),
    async change(id, next) {
      for (let conflict = 0; conflict < maxConflicts; conflict += 1) {
        const row = await rows.get(id)
        const [before] = row ? documents([{ id, text: row.document }]) : []
        const after = next(before)
        if (after === undefined || (await rows.swap(toRow(spec, after), row?.version))) return { before, after }
      }
      throw new ServiceError('busy', `${spec.name} has too many concurrent writers; try again`, { retryAfterMs: 1_000 })
    },
    remove: (where) => rows.remove(toConditions(where)),
  }
}

const toRow = <T, C extends Columns, S>(
  { columns, idOf, valuesOf, summary }: CollectionSpec<T, C, S>,
  document: T,
): CollectionRow => ({
  id: idOf(document),
  version: randomUUID(),
  values: selectValues(columns, valuesOf(document)),
  document: JSON.stringify(document),
  summary: summary ? JSON.stringify(summary.of(document)) : null,
})

/** Returns functions that parse stored documents and summaries. */
const createReaders = <T, C extends Columns, S>(
  { report }: CollectionTables,
  { name, schema, summary, unreadable }: CollectionSpec<T, C, S>,
) => {
  const readAll = <D>(texts: readonly StoredText[], read: (stored: StoredText) => D | undefined): D[] => {
    const all = texts.map(read)
    const lost = texts.filter((_, index) => all[index] === undefined).map(({ id }) => id)
    if (lost.length > 0)
      report(`${lost.length} unreadable documents of ${name} omitted: ${lost.slice(0, 3).join(', ')}`)
    return all.filter((document) => document !== undefined)
  }
  return {
    documents: (texts: readonly StoredText[]): T[] =>
      readAll(texts, ({ id, text }) => parseDocument(schema, text) ?? unreadable?.(id)),
    summaries(texts: readonly StoredText[]): S[] {
      if (summary === undefined) throw new TypeError(`the collection ${name} has no summaries`)
      return readAll(texts, ({ text }) => parseDocument(summary.schema, text))
    },
  }
}
type StoredText = Pick<RowText, 'id' | 'text'>

const selectValues = <C extends Columns>(
  columns: C,
  values: Readonly<Record<keyof C, ColumnValue>>,
): CollectionRow['values'] => Object.fromEntries(Object.keys(columns).map((column) => [column, values[column] ?? null]))

const parseDocument = <T>(schema: z.ZodType<T>, text: string): T | undefined => schema.safeParse(parseJson(text)).data

const toRowQuery = <C extends Columns>({ where, ...rest }: CollectionQuery<C> = {}): RowQuery => ({
  ...rest,
  where: toConditions(where),
})

type AnyCriterion = Criterion<string | number> | undefined

const toConditions = <C extends Columns>(where: DocumentFilter<C> = {}): ColumnCondition[] =>
  Object.entries<AnyCriterion>(where).flatMap(([column, criterion]) => toCondition(column, criterion) ?? [])

const toCondition = (column: string, criterion: AnyCriterion): ColumnCondition | undefined => {
  if (criterion === undefined) return undefined
  if (criterion === null || typeof criterion !== 'object') return { column, among: [criterion] }
  if (isList(criterion)) return { column, among: criterion }
  if (!('contains' in criterion)) return { column, ...criterion }
  return criterion.contains === undefined ? undefined : { column, contains: criterion.contains }
}

const isList = (criterion: AnyCriterion & object): criterion is readonly ColumnValue[] => Array.isArray(criterion)
