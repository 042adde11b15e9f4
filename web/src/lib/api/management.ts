import { queryOptions } from '@tanstack/svelte-query'
import { call, type ResponseBody, type Body } from './call.ts'

/** A change of a user, a role or a grant. */
export type Operation = Body<'POST /api/v1/management'>
export type OperationResult = ResponseBody<'POST /api/v1/management'>

/** Query for whether users, roles and grants can be changed in this installation. */
export const managementQuery = () =>
  queryOptions({
    queryKey: ['management'],
    queryFn: ({ signal }) => call('GET /api/v1/management', { signal }),
  })

export const manage = (host: number, operation: Operation) =>
  call('POST /api/v1/management', { query: { hostId: host }, body: operation })
