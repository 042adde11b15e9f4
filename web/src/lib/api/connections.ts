import type { z } from 'zod'
import type { ConnectionTestAnswer, UserConnectionAnswer, UserConnectionsAnswer } from '#proto/http/connections.ts'
import { queryOptions } from '@tanstack/svelte-query'
import { requestJson } from './request.ts'

const base = '/api/v1/user-connections'

/** Where a database is and who one is there. */
export interface Target {
  url: string
  user: string
  password: string
}

export type Tested = z.infer<typeof ConnectionTestAnswer>['data']

/** Dials a database; one that does not work is a good answer too, with the reason. */
export const testConnection = async (target: Target): Promise<Tested> =>
  (await requestJson<z.infer<typeof ConnectionTestAnswer>>('/api/v1/browser-connections/test', { body: target })).data

/** The connections that who looks keeps on the server. */
export const keptConnectionsQuery = () =>
  queryOptions({
    queryKey: ['connections'],
    queryFn: async ({ signal }) => (await requestJson<z.infer<typeof UserConnectionsAnswer>>(base, { signal })).data,
  })

export const keepConnection = async (name: string, target: Target) =>
  (await requestJson<z.infer<typeof UserConnectionAnswer>>(base, { body: { name, ...target } })).data

/** A new name, and with a target everything anew: the one before is never given out, not even to be kept. */
export const changeConnection = async (id: string, name: string, target?: Target) =>
  requestJson<z.infer<typeof UserConnectionAnswer>>(`${base}/${encodeURIComponent(id)}`, {
    method: 'PUT',
    body: { name, ...target },
  })

export const forgetConnection = (id: string) =>
  requestJson<z.infer<typeof UserConnectionAnswer>>(`${base}/${encodeURIComponent(id)}`, { method: 'DELETE' })
