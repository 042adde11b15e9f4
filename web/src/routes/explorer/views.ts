import type { ReadableParameters } from '#lib/state/range.ts'

/** Views of a table, in the order of the tabs. */
export const tableViews = [
  { id: 'columns', title: 'Columns' },
  { id: 'data', title: 'Data' },
  { id: 'ddl', title: 'DDL' },
  { id: 'indexes', title: 'Indexes and projections' },
  { id: 'parts', title: 'Parts' },
  { id: 'dependencies', title: 'Dependencies' },
  { id: 'usage', title: 'Usage' },
] as const
/** Views of a database, in the order of the tabs. */
export const databaseViews = [
  { id: 'tables', title: 'Tables' },
  { id: 'dependencies', title: 'Dependencies' },
  { id: 'ddl', title: 'DDL' },
] as const

/** The database and table that the URL selects; null if none is selected. */
export interface ExplorerSelection {
  database: string | null
  table: string | null
}

export const readExplorerSelection = (parameters: ReadableParameters): ExplorerSelection => {
  const database = parameters.get('database') || null
  return { database, table: database === null ? null : parameters.get('table') || null }
}

/** Returns the view in the URL, by default the first one. */
export const readView = <Id extends string>(
  views: readonly [{ id: Id }, ...{ id: Id }[]],
  parameters: ReadableParameters,
): Id => views.find(({ id }) => id === parameters.get('view'))?.id ?? views[0].id
