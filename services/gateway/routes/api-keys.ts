import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ApiKeyResponse,
  ApiKeyRequest,
  ApiKeysResponse,
  type ApiKeySummary,
  RevokedKeyResponse,
} from '#proto/http/auth.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { type ApiKeys, isOperator, createOperatorRequiredError, operatorIdentity } from '../auth/keys/keys.ts'
import type { ApiKeyRecord } from '../auth/keys/registry.ts'
import { hasScopeForRoute } from '../features/authorization.ts'
import { ApiKeyId } from '../auth/keys/key-token.ts'
import { parseRequestInput } from '../request/parse.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const own = { feature: null, access: 'own-bearer', limit: 'data', query: noQuery } as const

/** Issues a key to the operator. Users get keys by device login only. */
const issueKey = definePostRoute({
  ...own,
  secretOnly: true,
  path: '/api/v1/auth/api-key',
  doc: 'Issues an API key to the operator',
  body: ApiKeyRequest,
  answer: ApiKeyResponse,
  handle: async ({ headers, body, requestId }, { keys, audit, telemetry }) => {
    keys.requireEnabled()
    if (!isOperator(headers, keys)) throw createOperatorRequiredError(headers)
    const target = { label: body.label, scopes: body.scopes.join(' '), days: String(body.days) }
    const context = { call: { identity: operatorIdentity }, requestId }
    const { apiKey, claims } = await audit.of({ action: 'issue-api-key', host: null, target }, context, () =>
      keys.issue(body),
    )
    const { jti: id, label, sub: subject, exp } = claims
    telemetry.log.info({ keyId: id, days: body.days, scopes: body.scopes }, 'API key issued')
    const { days: expiresInDays, scopes } = body
    return { data: { apiKey, id, label, subject, scopes, expiresInDays, expiresAt: isoOf(exp * 1000) } }
  },
})

const listKeys = defineGetRoute({
  ...own,
  path: '/api/v1/auth/api-keys',
  doc: 'Lists API keys with their last use: all keys for the operator, their own for other callers',
  answer: ApiKeysResponse,
  handle: async ({ headers, call }, { keys }) => {
    keys.requireEnabled()
    const records = await keys.list(ownerOf(headers, call.identity, keys, 'read'))
    return createSuccessBody(records.map(toListedKey), { count: records.length })
  },
})

const revokeKey = defineDeleteRoute({
  ...own,
  path: '/api/v1/auth/api-keys/{id}',
  doc: 'Revokes one API key immediately',
  answer: RevokedKeyResponse,
  handle: async ({ headers, path, call, requestId }, { keys, audit }) => {
    keys.requireEnabled()
    const owner = ownerOf(headers, call.identity, keys, 'write')
    const { id } = parseRequestInput(z.object({ id: ApiKeyId }), path)
    const context = { call: owner === undefined ? { identity: operatorIdentity } : call, requestId }
    const action = { action: 'revoke-api-key', host: null, target: { id } }
    const record = await audit.of(action, context, () => keys.revoke(id, owner))
    return createSuccessBody(toListedKey(record), {})
  },
})

/** Returns the subject whose keys a caller may list and revoke; undefined for the operator, who may access all. */
const ownerOf = (
  headers: IncomingHttpHeaders,
  identity: Identity,
  keys: ApiKeys,
  access: 'read' | 'write',
): string | undefined => {
  if (isOperator(headers, keys)) return undefined
  if (identity.kind !== 'user' && identity.kind !== 'key') throw createOperatorRequiredError(headers)
  if (!hasScopeForRoute(identity, { access, feature: null }))
    throw new ServiceError('forbidden', `this requires an API key with the scope "${access}"`)
  return identity.subject
}

const toListedKey = ({ claims, lastUsedAtMs, revokedAtMs }: ApiKeyRecord): ApiKeySummary => ({
  id: claims.jti,
  label: claims.label,
  subject: claims.sub,
  scopes: claims.scopes,
  issuedAt: isoOf(claims.iat * 1000),
  expiresAt: isoOf(claims.exp * 1000),
  lastUsedAt: lastUsedAtMs === null ? null : isoOf(lastUsedAtMs),
  revokedAt: revokedAtMs === null ? null : isoOf(revokedAtMs),
})

const isoOf = (epochMs: number): string => new Date(epochMs).toISOString()

export const apiKeyRoutes: readonly Route[] = [issueKey, listKeys, revokeKey]
