/** Query parameters of a request for the first rows of a table page. */
export const firstRowsParameters = new URLSearchParams({ limit: '200' })

/** Stale time of expensive queries, in milliseconds. A refresh does not repeat them earlier. */
export const expensiveQueryStaleTimeMs = 5 * 60_000
