import { QueryClient } from '@tanstack/svelte-query'
import { RequestFailure } from './failure.ts'

/** Attempts after the first: enough for a restart of the service, few enough not to hide that it is away. */
const maximumRetries = 2
const firstDelayMs = 1_000
const longestDelayMs = 15_000

/** The cache of answers. What was shown stays shown: a failed refresh keeps the rows and says how old they are. */
export const createClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < maximumRetries && error instanceof RequestFailure && error.passing,
        retryDelay: delayBefore,
        // A monitoring page is often open on a network without internet, where browsers say "offline".
        networkMode: 'always',
        refetchOnReconnect: true,
        refetchIntervalInBackground: false,
        structuralSharing: false,
      },
    },
  })

/** Waits as long as the service asked, else twice as long each time. */
export const delayBefore = (failures: number, error: Error): number => {
  const asked = error instanceof RequestFailure ? error.retryAfterMs : null
  return Math.min(asked ?? firstDelayMs * 2 ** failures, longestDelayMs)
}
