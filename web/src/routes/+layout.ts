import { createClient } from '#lib/api/client.ts'
import { configQuery } from '#lib/api/queries.ts'

/** A static shell: every page is drawn in the browser from the public API. */
export const ssr = false

/** What every page needs is asked for while the code of the page is still on its way. */
export const load = () => {
  const client = createClient()
  void client.prefetchQuery(configQuery())
  return { client }
}
