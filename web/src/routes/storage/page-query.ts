/** Parameters for the first rows of a table page. */
export const pageQuery = new URLSearchParams({ limit: '200' })

/** How long expensive queries stay fresh, so that they are not repeated with every refresh. */
export const costlyAgeMs = 5 * 60_000
