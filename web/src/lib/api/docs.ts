import { queryOptions } from '@tanstack/svelte-query'
import { call } from './call.ts'

/** Query for the list of documentation pages, which are part of the build. */
export const docsQuery = () =>
  queryOptions({
    queryKey: ['docs'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/docs', { signal })).data,
    staleTime: Infinity,
  })

export const docQuery = (id: string) =>
  queryOptions({
    queryKey: ['docs', id],
    queryFn: async ({ signal }) => (await call('GET /api/v1/docs/{page}', { path: { page: id }, signal })).data,
    staleTime: Infinity,
  })
