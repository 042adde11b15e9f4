import { queryOptions } from '@tanstack/svelte-query'
import { call, type CallArguments, type RouteName } from './call.ts'

/** Creates a query of a route, keyed by subject, route and arguments. */
export const createRouteQuery = <R extends RouteName>(
  about: readonly unknown[],
  route: R,
  ...[input]: CallArguments<R>
) =>
  queryOptions({
    queryKey: [...about, route, input],
    // TypeScript cannot infer that adding `signal` keeps the arguments valid.
    queryFn: ({ signal }) => call(route, ...([{ ...input, signal }] as unknown as CallArguments<R>)),
  })
