import { queryOptions } from '@tanstack/svelte-query'
import { call } from './call.ts'

/** Query for the current user. */
export const currentUserQuery = () =>
  queryOptions({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/auth/me', { signal })).data,
    staleTime: Infinity,
  })

/** Stores an API key in a cookie that scripts cannot read. */
export const signInWithKey = (key: string) => call('POST /api/v1/auth/session', { body: { key } })

export const signOut = () => call('DELETE /api/v1/auth/session')
