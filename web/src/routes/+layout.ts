import { createClient } from '#lib/api/client.ts'
import { configQuery } from '#lib/api/queries.ts'

/** Pages are rendered in the browser only, from the public API. */
export const ssr = false

/** Prefetches the config while the code of the page is still loading. */
export const load = () => {
  const client = createClient()
  void client.prefetchQuery(configQuery())
  return { client }
}
