import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { parseJson } from '../../text/parse-json.ts'
import type { Database } from '../sql/connection.ts'
import { memoryTables } from './memory-rows.ts'
import type { ColumnType, ColumnValue, Condition, Place, Row, RowQuery, RowText, TableSpec, Tables } from './rows.ts'

type Columns = Readonly<Record<string, ColumnType>>
type ValueOf<K extends ColumnType | undefined> = K extends 'integer' ? number : string

/** Says what a collection keeps. A document is JSON; beside it are the columns that queries filter or order by. */
export interface CollectionSpec<T, C extends Columns, S> extends TableSpec {
  readonly columns: C
  readonly schema: z.ZodType<T>
  idOf(document: NoInfer<T>): string
  /** The columns of a document; what it holds beside them counts for nothing. */
  valuesOf(document: NoInfer<T>): { readonly [K in keyof C]: ValueOf<C[K]> | null }
  /** What lists show of a document, where reading all of it costs too much. */
  readonly summary?: { readonly schema: z.ZodType<S>; of(document: NoInfer<T>): S }
  /** Returns a placeholder for an unreadable document, which is otherwise skipped. */
  unreadable?(id: string): NoInfer<T>
}

/** Infers the types of a collection from what is said of it. */
export const defineCollection = <T, const C extends Columns, S = never>(
  spec: CollectionSpec<T, C, S>,
): CollectionSpec<T, C, S> => spec

/** A value, or null; one of several; a range; a text within; anything but null. Undefined does not filter. */
type Criterion<V> =
  | V
  | null
  | readonly (V | null)[]
  | { readonly from?: V | undefined; readonly before?: V | undefined }
  | { readonly contains: string | undefined }
  | { readonly isSet: true }

/** What the columns must hold; the id is one of them. */
export type Where<C extends Columns> = { readonly [K in keyof C]?: Criterion<ValueOf<C[K]>> | undefined } & {
  readonly id?: Criterion<string> | undefined
}

/** Which documents are wanted, in which order; all by id for nothing. */
export interface CollectionQuery<C extends Columns> {
  readonly where?: Where<C>
  /** By id without it; documents of equal value go by their id in ascending order. */
  readonly orderBy?: keyof C & string
  readonly descending?: boolean
  /** Only documents behind this place of the order. */
  readonly after?: Place | undefined
  readonly limit?: number | undefined
}

/** Some of a list, and where it goes on. */
export interface Page<T> {
  readonly documents: T[]
  readonly next: Place | undefined
}

/** Documents of one kind. One that cannot be read, as after damage or from another release, is left out and reported; it stays where it is. */
export interface Collection<T, C extends Columns, S> {
  /** Adds documents; in place of those with the same id, as far as the collection lets a late write do so. */
  put(documents: readonly T[]): Promise<void>
  /** Adds the entries with new ids; returns how many. */
  add(documents: readonly T[]): Promise<number>
  get(id: string): Promise<T | undefined>
  list(query?: CollectionQuery<C>): Promise<T[]>
  summaries(query?: CollectionQuery<C>): Promise<S[]>
  /** The same lists cut to a limit, with the place behind which they go on; undefined at their end. */
  page(query: CollectionQuery<C> & { limit: number }): Promise<Page<T>>
  summaryPage(query: CollectionQuery<C> & { limit: number }): Promise<Page<S>>
  ids(query?: CollectionQuery<C>): Promise<string[]>
  count(where?: Where<C>): Promise<number>
  /**
   * Writes what `next` makes of the present document, or nothing for undefined. `next` runs again when the document was changed
   * in between; throws `busy` when that goes on.
   */
  change<R extends T | undefined>(
    id: string,
    next: (present: T | undefined) => R,
  ): Promise<{ before: T | undefined; after: R }>
  /** Removes what matches; returns how many. */
  remove(where: Where<C>): Promise<number>
}

/** Collections that are kept in one place. */
export interface Collections {
  readonly kind: Tables['kind']
  of<T, C extends Columns, S>(spec: CollectionSpec<T, C, S>): Collection<T, C, S>
  /** Runs a step upon these collections, in a database all or nothing; with a name, while no other step of that name runs. */
  atomically<R>(step: (within: Collections) => Promise<R>, alone?: string): Promise<R>
}

/** Collections in tables of the database; without one in memory, where a restart forgets them. The owner names their migrations. */
export const openCollections = async (
  owner: string,
  specs: readonly TableSpec[],
  database: Database | undefined,
): Promise<Collections> => {
  if (database === undefined) return memoryCollections()
  // Loaded only where there is a database, as the library for its statements is large.
  const { sqlTables } = await import('./sql-rows.ts')
  return collectionsIn(await sqlTables(database, owner, specs))
}

/** Collections of this process alone. */
export const memoryCollections = (): Collections => collectionsIn(memoryTables())

const collectionsIn = (tables: Tables): Collections => ({
  kind: tables.kind,
  of: (spec) => collectionIn(tables, spec),
  atomically: (step, alone) => tables.atomically((within) => step(collectionsIn(within)), alone),
})

const maxRaces = 20

const collectionIn = <T, C extends Columns, S>(tables: Tables, spec: CollectionSpec<T, C, S>): Collection<T, C, S> => {
  const rows = tables.of(spec)
  const { documents, summaries } = readersOf(tables, spec)
  const writing = (written: readonly T[]) => written.map((document) => rowOf(spec, document))
  const pageOf = async <D>(
    query: CollectionQuery<C> & { limit: number },
    text: 'document' | 'summary',
    readAll: (texts: readonly RowText[]) => D[],
  ): Promise<Page<D>> => {
    // One more says whether there is more.
    const texts = await rows.texts(rowQuery({ ...query, limit: query.limit + 1 }), text)
    const page = texts.slice(0, query.limit)
    return { documents: readAll(page), next: page.length < texts.length ? page.at(-1) : undefined }
  }
  return {
    async put(written) {
      await rows.put(writing(written), 'replace')
    },
    add: (written) => rows.put(writing(written), 'leave'),
    async get(id) {
      const row = await rows.get(id)
      return row && documents([{ id, text: row.document }])[0]
    },
    list: async (query) => documents(await rows.texts(rowQuery(query), 'document')),
    summaries: async (query) => summaries(await rows.texts(rowQuery(query), 'summary')),
    page: (query) => pageOf(query, 'document', documents),
    summaryPage: (query) => pageOf(query, 'summary', summaries),
    ids: async (query) => (await rows.texts(rowQuery(query), 'id')).map(({ id }) => id),
    count: (where) => rows.count(conditions(where)),
    async change(id, next) {
      for (let race = 0; race < maxRaces; race += 1) {
        const row = await rows.get(id)
        const [before] = row ? documents([{ id, text: row.document }]) : []
        const after = next(before)
        if (after === undefined || (await rows.swap(rowOf(spec, after), row?.version))) return { before, after }
      }
      throw new ServiceError('busy', `${spec.name} has too many concurrent writers; try again`, { retryAfterMs: 1_000 })
    },
    remove: (where) => rows.remove(conditions(where)),
  }
}

const rowOf = <T, C extends Columns, S>(
  { columns, idOf, valuesOf, summary }: CollectionSpec<T, C, S>,
  document: T,
): Row => ({
  id: idOf(document),
  version: randomUUID(),
  values: valuesIn(columns, valuesOf(document)),
  document: JSON.stringify(document),
  summary: summary ? JSON.stringify(summary.of(document)) : null,
})

/** What turns texts into documents and summaries again. */
const readersOf = <T, C extends Columns, S>(
  { report }: Tables,
  { name, schema, summary, unreadable }: CollectionSpec<T, C, S>,
) => {
  const readAll = <D>(texts: readonly StoredText[], read: (stored: StoredText) => D | undefined): D[] => {
    const all = texts.map(read)
    const lost = texts.filter((_, index) => all[index] === undefined).map(({ id }) => id)
    if (lost.length > 0) report(`${lost.length} of ${name} cannot be read and left out: ${lost.slice(0, 3).join(', ')}`)
    return all.filter((document) => document !== undefined)
  }
  return {
    documents: (texts: readonly StoredText[]): T[] =>
      readAll(texts, ({ id, text }) => readAs(schema, text) ?? unreadable?.(id)),
    summaries(texts: readonly StoredText[]): S[] {
      if (summary === undefined) throw new TypeError(`the collection ${name} has no summaries`)
      return readAll(texts, ({ text }) => readAs(summary.schema, text))
    },
  }
}
type StoredText = Pick<RowText, 'id' | 'text'>

const valuesIn = <C extends Columns>(columns: C, values: Readonly<Record<keyof C, ColumnValue>>): Row['values'] =>
  Object.fromEntries(Object.keys(columns).map((column) => [column, values[column] ?? null]))

const readAs = <T>(schema: z.ZodType<T>, text: string): T | undefined => schema.safeParse(parseJson(text)).data

const rowQuery = <C extends Columns>({ where, ...rest }: CollectionQuery<C> = {}): RowQuery => ({
  ...rest,
  where: conditions(where),
})

type AnyCriterion = Criterion<string | number> | undefined

const conditions = <C extends Columns>(where: Where<C> = {}): Condition[] =>
  Object.entries<AnyCriterion>(where).flatMap(([column, criterion]) => conditionOf(column, criterion) ?? [])

const conditionOf = (column: string, criterion: AnyCriterion): Condition | undefined => {
  if (criterion === undefined) return undefined
  if (criterion === null || typeof criterion !== 'object') return { column, among: [criterion] }
  if (isList(criterion)) return { column, among: criterion }
  if (!('contains' in criterion)) return { column, ...criterion }
  return criterion.contains === undefined ? undefined : { column, contains: criterion.contains }
}

const isList = (criterion: AnyCriterion & object): criterion is readonly ColumnValue[] => Array.isArray(criterion)
