import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { DeploymentsAnswer } from '#proto/http/deployments.ts'
import { spanSeconds, type Range } from '#lib/state/range.ts'
import { requestJson } from './request.ts'

export type Deployment = z.infer<typeof DeploymentsAnswer>['data'][number]

/** What was put into use within a range, which is no host's alone. */
export const deploymentsQuery = (range: Range) =>
  queryOptions({
    queryKey: ['deployments', range],
    queryFn: ({ signal }) => {
      const from = range.kind === 'between' ? range.from : Math.floor(Date.now() / 1000) - spanSeconds(range)
      const search = new URLSearchParams({
        from: String(from),
        ...(range.kind === 'between' && { to: String(range.to) }),
      })
      return requestJson<z.infer<typeof DeploymentsAnswer>>(`/api/v1/deployments?${search}`, { signal })
    },
  })
