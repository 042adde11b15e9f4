import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { CliDiscovery } from '#proto/http/auth.ts'
import type { BillingAnswer } from '#proto/http/billing.ts'
import type { Version } from '#proto/http/status.ts'
import { requestJson } from './request.ts'

/** What runs here changes with a deployment. */
const ageMs = 10 * 60_000

export const versionQuery = () =>
  queryOptions({
    queryKey: ['version'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof Version>>('/api/version', { signal }),
    staleTime: ageMs,
  })

export const billingQuery = () =>
  queryOptions({
    queryKey: ['billing'],
    queryFn: async ({ signal }) =>
      (await requestJson<z.infer<typeof BillingAnswer>>('/api/v1/billing', { signal })).data,
    staleTime: ageMs,
  })

/** How programs without a browser sign in. */
export const programsQuery = () =>
  queryOptions({
    queryKey: ['cli'],
    queryFn: ({ signal }) => requestJson<CliDiscovery>('/api/v1/auth/cli', { signal }),
    staleTime: ageMs,
  })
