import type { RouteData } from '#proto/http/route.ts'
import type { Client } from './client.ts'

/** The query parameter that takes the cursor of the next page, by route. */
const cursorParameters = {
  'GET /api/v1/tables/{name}': 'cursor',
  'GET /api/v1/events': 'before',
  'GET /api/v1/audit': 'before',
} as const

/** A route that returns its entries in pages. */
export type PagedRoute = keyof typeof cursorParameters
/** An entry of a page. */
export type PageItem<R extends PagedRoute> = RouteData<R> extends readonly (infer Item)[] ? Item : never

/** A page with the cursor of the next one, as all paged routes return it. */
interface Page {
  data: readonly unknown[]
  metadata: { nextCursor?: string | null; next?: string | number | null }
}

/** Yields the entries of all pages. The next page is requested when all entries of the previous one are consumed. */
export async function* readPages<R extends PagedRoute>(
  client: Pick<Client, 'call'>,
  route: R,
  input: Readonly<Record<string, unknown>>,
): AsyncGenerator<PageItem<R>> {
  for (let cursor: string | number | null | undefined; ;) {
    const query = cursor == null ? input.query : addCursor(input.query, cursorParameters[route], cursor)
    // The arguments are those of the caller and a cursor, which every paged route has.
    const response: unknown = await client.call(route, ...([{ ...input, query }] as never))
    // All paged routes return this shape.
    const page = response as Page
    // The response of the route has these entries.
    yield* page.data as readonly PageItem<R>[]
    cursor = page.metadata.nextCursor ?? page.metadata.next
    if (cursor == null) return
  }
}

const addCursor = (query: unknown, name: string, cursor: string | number): object => {
  if (!(query instanceof URLSearchParams)) return { ...(typeof query === 'object' && query), [name]: cursor }
  const changed = new URLSearchParams(query)
  changed.set(name, String(cursor))
  return changed
}
