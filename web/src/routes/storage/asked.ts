/** The first rows of a table, as they stand on this page. */
export const asked = new URLSearchParams({ limit: '200' })

/** What reads much of a host is not asked with every refresh. */
export const costlyAgeMs = 5 * 60_000
