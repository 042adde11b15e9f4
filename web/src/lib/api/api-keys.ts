import type { z } from 'zod'
import type { ApiKeyAnswer, ApiKeyRequest, ApiKeysAnswer, RevokedKeyAnswer } from '#proto/http/auth.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/auth'

export type ApiKey = z.infer<typeof ApiKeysAnswer>['data'][number]
export type NewKey = z.infer<typeof ApiKeyAnswer>['data']

/** With the operator secret the keys of everybody, without it those of who is signed in. */
export const listKeys = async (operator: string | undefined): Promise<readonly ApiKey[]> =>
  (await requestJson<z.infer<typeof ApiKeysAnswer>>(`${base}/api-keys`, { bearer: operator })).data

/** The key itself is in this answer and in no other. */
export const issueKey = async (operator: string, body: z.input<typeof ApiKeyRequest>): Promise<NewKey> =>
  (await requestJson<z.infer<typeof ApiKeyAnswer>>(`${base}/api-key`, { bearer: operator, body })).data

export const revokeKey = (operator: string | undefined, id: string) =>
  requestJson<z.infer<typeof RevokedKeyAnswer>>(`${base}/api-keys/${encodeURIComponent(id)}`, {
    method: 'DELETE',
    bearer: operator,
  })
