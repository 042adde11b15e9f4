import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { MeAnswer, SignOutAnswer } from '#proto/http/session.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/auth'

/** Who looks at the page. */
export const meQuery = () =>
  queryOptions({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await requestJson<z.infer<typeof MeAnswer>>(`${base}/me`, { signal })).data,
    staleTime: Infinity,
  })

/** Has the browser keep an API key where no script can read it. */
export const signInWithKey = (key: string) =>
  requestJson<z.infer<typeof MeAnswer>>(`${base}/session`, { body: { key } })

export const signOut = () => requestJson<z.infer<typeof SignOutAnswer>>(`${base}/session`, { method: 'DELETE' })
