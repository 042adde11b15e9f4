import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { ManagementAnswer, ManagementRequest, ManagementState } from '#proto/http/management.ts'
import { requestJson } from './request.ts'

const path = '/api/v1/management'

/** One change of a user, a role or a grant. */
export type Operation = z.input<typeof ManagementRequest>
export type Carried = z.infer<typeof ManagementAnswer>

/** Whether anything of that kind may be changed here. */
export const managementQuery = () =>
  queryOptions({
    queryKey: ['management'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof ManagementState>>(path, { signal }),
  })

export const manage = (host: number, operation: Operation) =>
  requestJson<Carried>(`${path}?hostId=${host}`, { body: operation })
