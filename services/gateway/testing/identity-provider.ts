import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import type { JWTPayload } from 'jose'
import { z } from 'zod'
import type { Clock } from '#shared/time/clock.ts'
import type { ValidRequest } from './valid-requests.ts'
import { openSigningKeys, type SigningKeys } from './signing-keys.ts'
import { startStrictServer, type StrictResponse, type StrictServer } from './strict-server.ts'

/** Lifetime of session tokens. */
const tokenSeconds = 60

/** A fake identity provider that signs tokens with real keys. It has one browser, and sessions that a test adds. */
export interface IdentityProvider extends StrictServer {
  keys: SigningKeys
  /** The session of the browser; undefined while it is signed out. */
  browserSession: string | undefined
  /** Subjects of active sessions, by session id. */
  sessions: Map<string, string>
  /** Introspection fields of issued OAuth tokens, by token. */
  accessTokens: Map<string, Record<string, unknown>>
  /** Makes the provider return 500 for every request. */
  isDown: boolean
  /** Issues a session token; `claims` override the default ones. */
  token(claims?: JWTPayload): Promise<string>
}

/** The API key of the provider. */
export const idpSecretKey = 'sk_test_of_the_fake_provider'

export const startIdentityProvider = async (clock: Clock): Promise<IdentityProvider> => {
  const keys = await openSigningKeys()
  const provider: Omit<IdentityProvider, keyof StrictServer> = {
    keys,
    browserSession: undefined,
    sessions: new Map([['sess_1', 'user_ada']]),
    accessTokens: new Map(),
    isDown: false,
    token: async (claims) => {
      const iat = Math.floor(clock.now() / 1000)
      const exp = iat + tokenSeconds
      return keys.sign({ iss: server.url, sub: 'user_ada', sid: 'sess_1', iat, nbf: iat, exp, ...claims })
    },
  }
  const server = await startStrictServer((request, url) => {
    if (provider.isDown) return { status: 500, json: {} }
    const call = `${request.method} ${url.pathname}`
    if (call === 'GET /.well-known/jwks.json') return { json: keys.published() }
    if (call === 'GET /sign-in') return hostedPage(url, provider)
    if (call === 'GET /v1/client/handshake') return handshake(url, provider)
    if (call === 'POST /v1/oauth_applications/access_tokens/verify') return introspect(request, provider)
    return sessionCall(request, url, provider)
  })
  return Object.assign(provider, server)
}

type Provider = Omit<IdentityProvider, keyof StrictServer>

/** Responds like the sign-in page, but signs the browser in without requesting credentials. */
const hostedPage = (url: URL, provider: Provider): StrictResponse => {
  const back = url.searchParams.get('redirect_url')
  if (back === null || !URL.canParse(back)) return undefined
  provider.browserSession = 'sess_1'
  return { location: back }
}

const handshake = async (url: URL, provider: Provider): Promise<StrictResponse> => {
  const { searchParams } = url
  const back = searchParams.get('redirect_url')
  if (back === null || !URL.canParse(back) || searchParams.get('suffixed_cookies') !== 'false') return undefined
  const { browserSession: sid } = provider
  const session = sid === undefined ? '' : await provider.token({ sid, sub: provider.sessions.get(sid) ?? '' })
  const cookies = [`__session=${session}; Path=/; Secure; SameSite=Lax`, '__client_uat=1700000000; Path=/']
  const location = new URL(back)
  location.searchParams.set('__clerk_handshake', await provider.keys.sign({ handshake: cookies }))
  return { location: location.href }
}

const Introspection = z.strictObject({ access_token: z.string() })

const introspect = async (request: IncomingMessage, provider: Provider): Promise<StrictResponse> => {
  if (request.headers.authorization !== `Bearer ${idpSecretKey}`) return { status: 401, json: {} }
  const body = Introspection.safeParse(await json(request)).data
  if (body === undefined || request.headers['content-type'] !== 'application/json') return undefined
  const known = provider.accessTokens.get(body.access_token)
  if (known === undefined) return { status: 404, json: { errors: [{ code: 'resource_not_found' }] } }
  const standing = { subject: 'user_ada', scopes: ['profile'], revoked: false, expired: false, expiration: null }
  return { json: { object: 'clerk_idp_oauth_access_token', client_id: 'client_1', ...standing, ...known } }
}

const sessionCall = async (request: IncomingMessage, url: URL, provider: Provider): Promise<StrictResponse> => {
  const { sid = '', action } =
    /^\/v1\/sessions\/(?<sid>\w+)\/(?<action>tokens|revoke)$/.exec(url.pathname)?.groups ?? {}
  if (request.method !== 'POST' || action === undefined) return undefined
  if (request.headers.authorization !== `Bearer ${idpSecretKey}`) return { status: 401, json: {} }
  const subject = provider.sessions.get(sid)
  if (subject === undefined) return { status: 404, json: { errors: [{ code: 'resource_not_found' }] } }
  if (action === 'tokens') return { json: { object: 'token', jwt: await provider.token({ sid, sub: subject }) } }
  provider.sessions.delete(sid)
  return { json: { object: 'session', id: sid, status: 'revoked' } }
}

/** A fake of Cloudflare Access with real keys. */
export interface AccessGateway extends StrictServer {
  keys: SigningKeys
  /** Issues a token for an application; `claims` override the default ones. */
  token(audience: string, claims?: JWTPayload): Promise<string>
}

export const startAccessGateway = async (clock: Clock): Promise<AccessGateway> => {
  const keys = await openSigningKeys()
  const server = await startStrictServer(({ method }, { pathname }) =>
    `${method} ${pathname}` === 'GET /cdn-cgi/access/certs' ? { json: keys.published() } : undefined,
  )
  const token = async (audience: string, claims?: JWTPayload): Promise<string> => {
    const iat = Math.floor(clock.now() / 1000)
    const own = { iss: server.url, aud: [audience], sub: 'uuid-1', email: 'ada@example.com', type: 'app' }
    return keys.sign({ ...own, iat, nbf: iat, exp: iat + 3_600, ...claims })
  }
  return { ...server, keys, token }
}

/** Webhook secret in the format of the identity provider. */
export const identityWebhookSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

interface SignatureOptions {
  secret?: string
  atMs?: number
  /** Prefix of the signature headers, such as `svix-id`. */
  prefix?: 'svix' | 'webhook'
}

/** Returns an event with the signature of Svix. */
export const createSignedIdentityEvent = (
  payload: object | string,
  { secret = identityWebhookSecret, atMs = Date.now(), prefix = 'svix' }: SignatureOptions = {},
): ValidRequest => {
  const raw = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const [id, at] = ['msg_2f', String(Math.floor(atMs / 1_000))]
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${raw}`).digest('base64')
  return {
    url: '/api/webhooks/identity-provider',
    raw,
    headers: {
      'content-type': 'application/json',
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: at,
      [`${prefix}-signature`]: `v1,${Buffer.alloc(32).toString('base64')} v1,${signature}`,
    },
  }
}

/** A valid request for the webhook about deleted users. */
export const identityRequests: Readonly<Record<string, ValidRequest>> = {
  'POST /api/webhooks/identity-provider': createSignedIdentityEvent({
    type: 'user.deleted',
    object: 'event',
    data: { deleted: true, id: 'user_gone', object: 'user' },
  }),
}
