import { QueryCache, QueryClient } from '@tanstack/svelte-query'
import { RequestFailure } from './failure.ts'
import { configQuery } from './queries.ts'
import { getRetryDelayMs, shouldRetry } from './retry.ts'
import { currentUserQuery } from './sign-in.ts'

/** Creates the query cache. A failed refresh keeps the last data on screen, marked as stale. */
export const createQueryClient = (): QueryClient => {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      // A 401 means that the session has expired. The refetched config and user decide what the page shows.
      onError: (error) => {
        if (!(error instanceof RequestFailure) || error.status !== 401) return
        void client.invalidateQueries({ queryKey: configQuery().queryKey })
        void client.invalidateQueries({ queryKey: currentUserQuery().queryKey })
      },
    }),
    defaultOptions: {
      queries: {
        retry: shouldRetry,
        retryDelay: getRetryDelayMs,
        // Dashboards are often open on networks without internet, where browsers report "offline".
        networkMode: 'always',
        refetchIntervalInBackground: false,
        // Rows are replaced as a whole; comparing them with the previous ones costs more than rendering them.
        structuralSharing: false,
      },
    },
  })
  return client
}
