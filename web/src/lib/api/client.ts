import { QueryCache, QueryClient } from '@tanstack/svelte-query'
import { RequestFailure } from './failure.ts'
import { configQuery } from './queries.ts'
import { delayBefore, shouldRetry } from './retry.ts'
import { meQuery } from './signing-in.ts'

/** The cache of answers. What was shown stays shown: a failed refresh keeps the rows and says how old they are. */
export const createClient = (): QueryClient => {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      // A session has ended: what may be seen now, and how to sign in, stands in the config.
      onError: (error) => {
        if (!(error instanceof RequestFailure) || error.status !== 401) return
        void client.invalidateQueries({ queryKey: configQuery().queryKey })
        void client.invalidateQueries({ queryKey: meQuery().queryKey })
      },
    }),
    defaultOptions: {
      queries: {
        retry: shouldRetry,
        retryDelay: delayBefore,
        // A monitoring page is often open on a network without internet, where browsers say "offline".
        networkMode: 'always',
        refetchIntervalInBackground: false,
        // Rows are replaced as a whole; comparing them with the old ones would cost more than drawing them.
        structuralSharing: false,
      },
    },
  })
  return client
}
