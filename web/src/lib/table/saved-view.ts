/** URL parameters of a table page that a saved view keeps. Host and time range belong to the visit. */
const keptParameters = ['sort', 'filter', 'search', 'columns', 'limit'] as const

/** Returns the parameters of a view: filters, search, sort order, columns, page size, and those of the page itself. */
export const writeSavedView = (parameters: Iterable<[string, string]>): string =>
  new URLSearchParams(
    [...parameters].filter(([name]) => keptParameters.some((kept) => kept === name) || name.startsWith('p.')),
  ).toString()
