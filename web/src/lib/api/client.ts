import { QueryClient } from '@tanstack/svelte-query'
import { delayBefore, shouldRetry } from './retry.ts'

/** The cache of answers. What was shown stays shown: a failed refresh keeps the rows and says how old they are. */
export const createClient = (): QueryClient =>
  new QueryClient({
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
