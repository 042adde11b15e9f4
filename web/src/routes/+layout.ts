import { createQueryClient } from '#lib/api/query-client.ts'
import { configQuery } from '#lib/api/queries.ts'

/** Disables server-side rendering: pages are rendered in the browser, with data from the public API. */
export const ssr = false

/** Creates the query client and prefetches the configuration while the code of the page is still loading. */
export const load = () => {
  const client = createQueryClient()
  void client.prefetchQuery(configQuery())
  return { client }
}
