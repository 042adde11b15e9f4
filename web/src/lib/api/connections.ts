import { queryOptions } from '@tanstack/svelte-query'
import { call, type Data } from './call.ts'

/** Where a database is and who one is there. */
export interface Target {
  url: string
  user: string
  password: string
}

export type Tested = Data<'POST /api/v1/browser-connections/test'>

/** Dials a database; one that does not work is a good answer too, with the reason. */
export const testConnection = async (target: Target): Promise<Tested> =>
  (await call('POST /api/v1/browser-connections/test', { body: target })).data

/** The connections that who looks keeps on the server. */
export const keptConnectionsQuery = () =>
  queryOptions({
    queryKey: ['connections'],
    queryFn: async ({ signal }) => (await call('GET /api/v1/user-connections', { signal })).data,
  })

export const keepConnection = async (name: string, target: Target) =>
  (await call('POST /api/v1/user-connections', { body: { name, ...target } })).data

/** A new name, and with a target everything anew: the one before is never given out, not even to be kept. */
export const changeConnection = async (id: string, name: string, target?: Target) =>
  call('PUT /api/v1/user-connections/{id}', { path: { id }, body: { name, ...target } })

export const forgetConnection = (id: string) => call('DELETE /api/v1/user-connections/{id}', { path: { id } })
