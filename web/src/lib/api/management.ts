import { queryOptions } from '@tanstack/svelte-query'
import { call, type ResponseBody, type RouteBody } from './call.ts'

/** A change of a user, a role or a grant. */
export type ManagementOperation = RouteBody<'POST /api/v1/management'>
export type ManagementResult = ResponseBody<'POST /api/v1/management'>

/** Query for whether users, roles and grants can be changed in this installation. */
export const managementQuery = () =>
  queryOptions({
    queryKey: ['management'],
    queryFn: ({ signal }) => call('GET /api/v1/management', { signal }),
  })

export const runManagementOperation = (host: number, operation: ManagementOperation) =>
  call('POST /api/v1/management', { query: { hostId: host }, body: operation })
