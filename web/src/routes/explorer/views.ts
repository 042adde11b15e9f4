import type { ReadableParameters } from '#lib/state/range.ts'

/** The sides of one table. */
export const tableViews = [
  { id: 'columns', title: 'Columns' },
  { id: 'data', title: 'Data' },
  { id: 'ddl', title: 'DDL' },
  { id: 'indexes', title: 'Indexes and projections' },
  { id: 'parts', title: 'Parts' },
  { id: 'dependencies', title: 'Dependencies' },
  { id: 'usage', title: 'Usage' },
] as const
/** The sides of a database. */
export const databaseViews = [
  { id: 'tables', title: 'Tables' },
  { id: 'dependencies', title: 'Dependencies' },
  { id: 'ddl', title: 'DDL' },
] as const

/** What the URL says is looked at. */
export interface Looked {
  database: string | null
  table: string | null
}

export const readPlace = (parameters: ReadableParameters): Looked => {
  const database = parameters.get('database') || null
  return { database, table: database === null ? null : parameters.get('table') || null }
}

/** The chosen side of what is looked at; the first unless the URL says otherwise. */
export const readView = <Id extends string>(
  views: readonly [{ id: Id }, ...{ id: Id }[]],
  parameters: ReadableParameters,
): Id => views.find(({ id }) => id === parameters.get('view'))?.id ?? views[0].id
