import { queryOptions } from '@tanstack/svelte-query'
import { call, type Arguments, type RouteName } from './call.ts'

/** A query of what a route answers. Its key is what it is about, the route, and what is sent. */
export const routeQuery = <R extends RouteName>(about: readonly unknown[], route: R, ...[given]: Arguments<R>) =>
  queryOptions({
    queryKey: [...about, route, given],
    // The same arguments with one more that every route takes.
    queryFn: ({ signal }) => call(route, ...([{ ...given, signal }] as unknown as Arguments<R>)),
  })
