import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { DocAnswer, DocsAnswer } from '#proto/http/docs.ts'
import { requestJson } from './request.ts'

const path = '/api/v1/docs'

/** The texts that there are; they are part of the build. */
export const docsQuery = () =>
  queryOptions({
    queryKey: ['docs'],
    queryFn: async ({ signal }) => (await requestJson<z.infer<typeof DocsAnswer>>(path, { signal })).data,
    staleTime: Infinity,
  })

export const docQuery = (id: string) =>
  queryOptions({
    queryKey: ['docs', id],
    queryFn: async ({ signal }) =>
      (await requestJson<z.infer<typeof DocAnswer>>(`${path}/${encodeURIComponent(id)}`, { signal })).data,
    staleTime: Infinity,
  })
