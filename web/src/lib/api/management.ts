import { queryOptions } from '@tanstack/svelte-query'
import { call, type Answer, type Body } from './call.ts'

/** One change of a user, a role or a grant. */
export type Operation = Body<'POST /api/v1/management'>
export type Carried = Answer<'POST /api/v1/management'>

/** Whether anything of that kind may be changed here. */
export const managementQuery = () =>
  queryOptions({
    queryKey: ['management'],
    queryFn: ({ signal }) => call('GET /api/v1/management', { signal }),
  })

export const manage = (host: number, operation: Operation) =>
  call('POST /api/v1/management', { query: { hostId: host }, body: operation })
