import { call, type Body, type Data } from './call.ts'

export type ApiKey = Data<'GET /api/v1/auth/api-keys'>[number]
export type NewKey = Data<'POST /api/v1/auth/api-key'>

/** With the operator secret the keys of everybody, without it those of who is signed in. */
export const listKeys = async (operator: string | undefined): Promise<readonly ApiKey[]> =>
  (await call('GET /api/v1/auth/api-keys', { bearer: operator })).data

/** The key itself is in this answer and in no other. */
export const issueKey = async (operator: string, body: Body<'POST /api/v1/auth/api-key'>): Promise<NewKey> =>
  (await call('POST /api/v1/auth/api-key', { bearer: operator, body })).data

export const revokeKey = (operator: string | undefined, id: string) =>
  call('DELETE /api/v1/auth/api-keys/{id}', { path: { id }, bearer: operator })
