import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  DeviceCodeResponse,
  DeviceCodeRequest,
  DeviceDecisionResponse,
  DeviceStatusResponse,
  TokenResponse,
  TokenRequest,
  UserCodeRequest,
} from '#proto/http/auth.ts'
import { noQuery } from '#proto/http/parameters.ts'
import {
  devicePollIntervalMs,
  deviceCodeLifetimeMs,
  formatUserCode,
  type DeviceDecision,
} from '../auth/device/codes.ts'
import type { DeviceApprover, DeviceLogin } from '../auth/device/open-device-login.ts'
import { operatorIdentity, type ApiKeys, isOperator, createOperatorRequiredError } from '../auth/keys/keys.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { HttpError, type ErrorFormat, type PublicError } from '../response/http-exchange.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'

/** Prefixes of the OAuth paths: the specified one, and that of the other authentication routes. */
const prefixes = ['/auth', '/api/v1/auth'] as const

const oauth = { feature: null, access: 'anonymous', limit: 'device-login', query: noQuery } as const

/** Converts errors to the format of OAuth (RFC 6749 §5.2). */
const oauthErrors: ErrorFormat = (shown) => ({
  status: shown.status,
  body: { error: oauthErrorOf(shown), error_description: toPlainAscii(shown.message) },
})

const deviceCode = (path: string): Route => ({
  ...definePostRoute({
    ...oauth,
    path,
    doc: 'Starts the sign-in of a device (RFC 8628 §3.1)',
    body: DeviceCodeRequest,
    answer: DeviceCodeResponse,
    handle: async ({ body, publicUrl }, { deviceLogin }) => {
      const codes = await deviceLogin.begin(body.client_id, body.scope)
      const userCode = formatUserCode(codes.userCode)
      const page = `${publicUrl()}/device`
      return {
        device_code: codes.deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: deviceCodeLifetimeMs / 1000,
        interval: devicePollIntervalMs / 1000,
      }
    },
  }),
  form: true,
  errorFormat: oauthErrors,
})

const grantTypes = ['urn:ietf:params:oauth:grant-type:device_code', 'device_code']

const token = (path: string): Route => ({
  ...definePostRoute({
    ...oauth,
    path,
    doc: 'Exchanges a device code for an API key once the device is approved (RFC 8628 §3.4)',
    body: TokenRequest,
    answer: TokenResponse,
    handle: async ({ body }, { deviceLogin, telemetry }) => {
      if (!grantTypes.includes(body.grant_type))
        throw new HttpError(400, 'unsupported_grant_type', `grant_type must be ${grantTypes.join(' or ')}`)
      if (body.device_code === undefined) throw new ServiceError('invalid', 'device_code is required')
      const { apiKey, claims } = await deviceLogin.exchange(body.device_code, body.client_id)
      telemetry.log.info({ keyId: claims.jti, client: claims.label }, 'API key issued to a device')
      return {
        access_token: apiKey,
        token_type: 'Bearer' as const,
        expires_in: claims.exp - claims.iat,
        scope: claims.scopes.join(' '),
      }
    },
  }),
  form: true,
  errorFormat: oauthErrors,
})

const decisionRoute = { feature: null, access: 'own-bearer', limit: 'data' } as const

const decision = (path: string, state: DeviceDecision['state']): Route =>
  definePostRoute({
    ...decisionRoute,
    path,
    doc: state === 'approved' ? 'Approves the sign-in of a device' : 'Denies the sign-in of a device',
    query: noQuery,
    body: UserCodeRequest,
    answer: DeviceDecisionResponse,
    handle: async ({ headers, body, call, requestId }, gateway) => {
      const { audit, deviceLogin } = gateway
      const decider = deciderOf(headers, call.identity, gateway)
      const name = state === 'approved' ? 'approve-device' : 'deny-device'
      const action = { action: name, host: null, target: { userCode: body.user_code, subject: decider.subject } }
      const context = { call: decider.isOperator ? { identity: operatorIdentity } : call, requestId }
      await audit.of(action, context, () => deviceLogin.decide(body.user_code, state, decider))
      const { deviceOnly } = deviceLogin.availability()
      return createSuccessBody({ approved: state === 'approved', deviceOnly, subject: decider.subject }, {})
    },
  })

const deviceStatus = defineGetRoute({
  ...decisionRoute,
  path: '/api/v1/auth/device/status',
  doc: 'Returns the pending sign-in of a device',
  query: UserCodeRequest,
  answer: DeviceStatusResponse,
  handle: async ({ headers, query, call }, gateway) => {
    const decider = deciderOf(headers, call.identity, gateway)
    const login = await gateway.deviceLogin.find(query.user_code, decider)
    const { clientId, scopes } = login
    const isOver = login.state === 'pending' && gateway.clock.now() >= login.expiresAtMs
    const issuedAt = new Date(login.issuedAtMs).toISOString()
    const expiresAt = new Date(login.expiresAtMs).toISOString()
    return createSuccessBody({ state: isOver ? 'expired' : login.state, clientId, scopes, issuedAt, expiresAt }, {})
  },
})

/** Routes of the device login (RFC 8628) and of its approval. */
export const deviceLoginRoutes: readonly Route[] = [
  ...prefixes.flatMap((prefix) => [deviceCode(`${prefix}/device/code`), token(`${prefix}/token`)]),
  decision('/api/v1/auth/device/approve', 'approved'),
  decision('/api/v1/auth/device/deny', 'denied'),
  deviceStatus,
]

/**
 * Returns the approver of a device: a signed-in user, or the operator if no provider is configured. Throws for other
 * callers. API keys must not approve devices, because they could create keys with a longer lifetime or more scopes.
 */
const deciderOf = (
  headers: IncomingHttpHeaders,
  { kind, subject }: Identity,
  { keys, deviceLogin }: { keys: ApiKeys; deviceLogin: DeviceLogin },
): DeviceApprover => {
  if (kind === 'user') return { subject, isOperator: false }
  const { deviceOnly } = deviceLogin.availability()
  if (deviceOnly && isOperator(headers, keys)) return { subject: deviceLogin.operatorSubject(), isOperator: true }
  if (kind === 'key') throw new ServiceError('forbidden', 'an API key cannot approve or deny a device')
  throw deviceOnly
    ? createOperatorRequiredError(headers)
    : new ServiceError('unauthenticated', 'sign in to approve or deny a device')
}

/** OAuth names of error types (RFC 6749 §5.2, RFC 8628 §3.5); types that are not listed are OAuth errors already. */
const oauthNames: Readonly<Record<string, string>> = {
  invalid: 'invalid_request',
  'too-large': 'invalid_request',
  'unsupported-media-type': 'invalid_request',
  'rate-limited': 'slow_down',
  busy: 'temporarily_unavailable',
  conflict: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  timeout: 'temporarily_unavailable',
  internal: 'server_error',
}

const oauthErrorOf = ({ type, details }: PublicError): string => {
  const parameter = type === 'invalid' ? details?.parameter : undefined
  if (typeof parameter === 'string' && /^scope(\.|$)/.test(parameter)) return 'invalid_scope'
  return oauthNames[type] ?? type.replaceAll('-', '_')
}

/** Replaces quotes and non-ASCII characters, which an error description must not contain. */
const toPlainAscii = (message: string): string => message.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')
