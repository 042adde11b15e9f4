import { queryOptions } from '@tanstack/svelte-query'
import { call } from './call.ts'

/** Who looks at the page. */
export const meQuery = () =>
  queryOptions({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/auth/me', { signal })).data,
    staleTime: Infinity,
  })

/** Has the browser keep an API key where no script can read it. */
export const signInWithKey = (key: string) => call('POST /api/v1/auth/session', { body: { key } })

export const signOut = () => call('DELETE /api/v1/auth/session')
