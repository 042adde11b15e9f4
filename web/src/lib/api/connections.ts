import { queryOptions } from '@tanstack/svelte-query'
import { call, type RouteData } from './call.ts'

/** The address and credentials of a database. */
export interface DatabaseTarget {
  url: string
  user: string
  password: string
}

export type ConnectionTestResult = RouteData<'POST /api/v1/browser-connections/test'>

/** Tests a connection. If the test fails, the promise still resolves, with the reason. */
export const testConnection = async (target: DatabaseTarget): Promise<ConnectionTestResult> =>
  (await call('POST /api/v1/browser-connections/test', { body: target })).data

/** Query for the connections that the signed-in user has stored on the server. */
export const storedConnectionsQuery = () =>
  queryOptions({
    queryKey: ['connections'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/user-connections', { signal })).data,
  })

export const storeConnection = async (name: string, target: DatabaseTarget) =>
  (await call('POST /api/v1/user-connections', { body: { name, ...target } })).data

/** Updates the name and, if given, the target of a connection. A target must include the credentials. */
export const updateConnection = async (id: string, name: string, target?: DatabaseTarget) =>
  call('PUT /api/v1/user-connections/{id}', { path: { id }, body: { name, ...target } })

export const deleteConnection = (id: string) => call('DELETE /api/v1/user-connections/{id}', { path: { id } })
