import { call, type RouteBody, type RouteData } from './call.ts'

export type ApiKey = RouteData<'GET /api/v1/auth/api-keys'>[number]
export type IssuedApiKey = RouteData<'POST /api/v1/auth/api-key'>

/** Lists all keys if the operator secret is given, otherwise those of the signed-in user. */
export const listApiKeys = async (operator: string | undefined): Promise<readonly ApiKey[]> =>
  (await call('GET /api/v1/auth/api-keys', { bearer: operator })).data

/** Issues a key. This is the only response that contains the key itself. */
export const issueApiKey = async (
  operator: string,
  body: RouteBody<'POST /api/v1/auth/api-key'>,
): Promise<IssuedApiKey> => (await call('POST /api/v1/auth/api-key', { bearer: operator, body })).data

export const revokeApiKey = (operator: string | undefined, id: string) =>
  call('DELETE /api/v1/auth/api-keys/{id}', { path: { id }, bearer: operator })
