import { queryOptions } from '@tanstack/svelte-query'
import { call } from './call.ts'

/** Stale time of responses that change only with a deployment, such as versions. */
const staleTimeMs = 10 * 60_000

export const versionQuery = () =>
  queryOptions({
    queryKey: ['version'],
    queryFn: ({ signal }) => call('GET /api/version', { signal }),
    staleTime: staleTimeMs,
  })

export const billingQuery = () =>
  queryOptions({
    queryKey: ['billing'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/billing', { signal })).data,
    staleTime: staleTimeMs,
  })

/** Query for the method with which command-line programs sign in. */
export const cliSignInQuery = () =>
  queryOptions({
    queryKey: ['cli'],
    queryFn: ({ signal }) => call('GET /api/v1/auth/cli', { signal }),
    staleTime: staleTimeMs,
  })
