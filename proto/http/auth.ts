import { z } from 'zod'
import { ApiKeyScope, scopes } from '../call.ts'
import { createResponseSchema } from './response.ts'
import { textParameter } from './parameters.ts'

const everyScope = [...scopes]

/** Body of `POST /api/v1/auth/api-key`, which requires the operator secret as bearer token. */
export const ApiKeyRequest = z.strictObject({
  label: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(64, 'must not be longer than 64 characters')
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  days: z.int().min(1, 'must be from 1 to 365').max(365, 'must be from 1 to 365').default(30),
  scopes: z
    .array(z.enum(scopes, `must be one of ${scopes.join(', ')}`))
    .min(1, 'must name at least one scope')
    .max(scopes.length, `must name each scope once: ${scopes.join(', ')}`)
    .default(everyScope),
})

/** Response of `POST /api/v1/auth/api-key`: the specified shape with additional attributes of the key. */
export const ApiKeyResponse = z.object({
  data: z.object({
    apiKey: z.string(),
    id: z.string(),
    label: z.string(),
    subject: z.string(),
    scopes: z.array(ApiKeyScope),
    expiresInDays: z.int(),
    expiresAt: z.iso.datetime(),
  }),
})

/** An API key in a list, without the key itself, which is returned only when it is issued. */
export const ApiKeySummary = z.object({
  id: z.string(),
  label: z.string(),
  subject: z.string(),
  scopes: z.array(z.string()),
  issuedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** Time of the last use, rounded to the minute; null if no use is recorded. The record can be lost on a restart. */
  lastUsedAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
})
export type ApiKeySummary = z.infer<typeof ApiKeySummary>

/** `GET /api/v1/auth/api-keys`: all keys for the operator, otherwise the caller's own. */
export const ApiKeysResponse = createResponseSchema(z.array(ApiKeySummary), z.object({ count: z.int() }))

/** Response of `DELETE /api/v1/auth/api-keys/{id}`: the revoked key. */
export const RevokedKeyResponse = createResponseSchema(ApiKeySummary, z.object({}))

/** The scopes of an OAuth request, separated by spaces; all scopes if empty. */
const ScopeText = textParameter
  .max(128, 'must not be longer than 128 characters')
  .transform((given) => [...new Set(given.split(' ').filter((word) => word !== ''))])
  .pipe(z.array(z.enum(scopes, `must be one or more of ${scopes.join(', ')}`)))
  .transform((given) => (given.length === 0 ? everyScope : given))

const ClientId = textParameter.regex(
  /^[\w.~-]{1,64}$/,
  'must be up to 64 letters, digits, dots, dashes and underscores',
)

/** `POST /auth/device/code` (RFC 8628 §3.1). Unknown fields are ignored, as OAuth requires. */
export const DeviceCodeRequest = z.object({ client_id: ClientId.default('cli'), scope: ScopeText.default(everyScope) })

/** Response of `POST /auth/device/code` (RFC 8628 §3.2). Times are in seconds. */
export const DeviceCodeResponse = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.url(),
  verification_uri_complete: z.url(),
  expires_in: z.int(),
  interval: z.int(),
})

/** `POST /auth/token` (RFC 8628 §3.4). */
export const TokenRequest = z.object({
  grant_type: textParameter.max(128, 'must not be longer than 128 characters'),
  device_code: textParameter.max(128, 'must not be longer than 128 characters').optional(),
  client_id: ClientId.optional(),
})

/** Response of `POST /auth/token` (RFC 6749 §5.1). The access token is an API key. */
export const TokenResponse = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  scope: z.string(),
})

/** Error response of OAuth requests (RFC 6749 §5.2). */
export const OAuthErrorResponse = z.object({ error: z.string(), error_description: z.string() })

const userCode = textParameter.max(32, 'must not be longer than 32 characters')

/** The code that a user enters to approve or deny a device. Case and the dash do not matter. */
export const UserCodeRequest = z.strictObject({ user_code: userCode })

/** Response of `POST /api/v1/auth/device/approve` and `POST /api/v1/auth/device/deny`. */
export const DeviceDecisionResponse = createResponseSchema(
  z.object({ approved: z.boolean(), deviceOnly: z.boolean(), subject: z.string() }),
  z.object({}),
)

/** Response of `GET /api/v1/auth/device/status`: the state of the request to be approved. */
export const DeviceStatusResponse = createResponseSchema(
  z.object({
    state: z.enum(['pending', 'approved', 'denied', 'used', 'expired']),
    clientId: z.string(),
    scopes: z.array(ApiKeyScope),
    issuedAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  }),
  z.object({}),
)

/** Response of `GET /api/v1/auth/cli`: how a command-line client can sign in, as specified, without secrets. */
export const CliDiscovery = z.object({
  method: z.enum(['none', 'api_key', 'device']),
  api: z.enum(['open', 'key_required']),
  authProvider: z.string(),
  deviceLogin: z.object({
    enabled: z.boolean(),
    mode: z.enum(['auto', 'true', 'false']),
    /** Whether only the operator can approve devices, because there is no identity provider. */
    deviceOnly: z.boolean(),
    reason: z.enum(['disabled', 'missing_api_key_secret']).nullable(),
    store: z.enum(['edgesql', 'store']),
  }),
  hint: z.string(),
})
export type CliDiscovery = z.infer<typeof CliDiscovery>

/** Metadata of the API as an OAuth protected resource (RFC 9728 §2). */
export const ProtectedResource = z.object({
  resource: z.url(),
  authorization_servers: z.array(z.url()),
  bearer_methods_supported: z.array(z.literal('header')),
  resource_name: z.string(),
  resource_documentation: z.url(),
})

const LinkTarget = z.object({ href: z.url(), type: z.string() })

/** The API catalog (RFC 9727) as a JSON link set (RFC 9264). */
export const ApiCatalog = z.object({
  linkset: z.array(
    z.object({
      anchor: z.url(),
      'service-desc': z.array(LinkTarget),
      'service-doc': z.array(LinkTarget),
      status: z.array(LinkTarget),
    }),
  ),
})
