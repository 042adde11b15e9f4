import { hash } from 'node:crypto'
import * as oauth from 'oauth4webapi'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { read } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { below } from './access.ts'
import { modelSettings } from './config.ts'

type Parts = Pick<Context, 'env' | 'net' | 'store'>

/** What is remembered between the two halves of a sign-in. */
export interface Begun {
  state: string
  verifier: string
  clientId: string
  redirectUri: string
  /** Of the gateway that the sign-in began with. */
  base: string
}

/** Begins an authorization code grant with PKCE; gives where the browser goes. */
export const begin = async (
  parts: Parts,
  { base, redirectUri, signal }: { base: URL; redirectUri: string; signal: AbortSignal },
): Promise<{ url: string; begun: Begun }> => {
  const server = serverAt(base)
  const clientId = await translated(() => clientFor(parts, { base, server, redirectUri, signal }))
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const url = new URL(server.authorization_endpoint)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  return { url: url.href, begun: { state, verifier, clientId, redirectUri, base: base.href } }
}

/** Exchanges what the gateway sent the browser back with for a key of the caller's account; undefined when it was refused there. */
export const end = async (
  parts: Parts,
  { begun, query, signal }: { begun: Begun; query: string; signal: AbortSignal },
): Promise<{ key: string; expiresInMs: number | undefined } | undefined> => {
  const [server, client] = [serverAt(new URL(begun.base)), { client_id: begun.clientId }]
  const sentBack = new URLSearchParams(query)
  if (sentBack.has('error')) return undefined
  const { access_token: key, expires_in: seconds } = await translated(async () => {
    const parameters = oauth.validateAuthResponse(server, client, sentBack, begun.state)
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      begun.redirectUri,
      begun.verifier,
      through(parts, server, signal),
    )
    return oauth.processAuthorizationCodeResponse(server, client, answer)
  })
  if (!/^[\x21-\x7e]{8,4096}$/.test(key)) throw garbled()
  return { key, expiresInMs: seconds === undefined ? undefined : seconds * 1_000 }
}

/** Questions may be asked with the key, and nothing else of the account. */
const scope = 'inference'

/** The endpoints of gateway C, which publishes no document about them at its root. */
const serverAt = (base: URL) => ({
  issuer: base.origin,
  authorization_endpoint: below(base, 'mcp/oauth/authorize').href,
  token_endpoint: below(base, 'mcp/oauth/token').href,
  registration_endpoint: below(base, 'mcp/oauth/register').href,
})
type Server = ReturnType<typeof serverAt>

const timeoutMs = 10_000

/** The way out of the library: through the guard of outgoing requests, which follows no redirect. */
const through = ({ net }: Parts, { issuer }: Server, signal: AbortSignal) => ({
  signal,
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  [oauth.customFetch]: (url: string, { method, headers, body }: oauth.CustomFetchOptions<string, unknown>) =>
    net.trusted(url, { method, headers, body: body == null ? undefined : String(body), signal, timeoutMs }),
})

const Registered = z.object({ clientId: z.string().max(512) })
const registeredMs = 30 * 86_400_000

interface Registering {
  base: URL
  server: Server
  redirectUri: string
  signal: AbortSignal
}

/** The operator's client, else the one that the product registered for this address before, else a new one. */
const clientFor = async (parts: Parts, { base, server, redirectUri, signal }: Registering): Promise<string> => {
  const given = read(modelSettings, parts.env).GATEWAY_C_OAUTH_CLIENT_ID?.trim()
  if (given) return given
  const name = `agent:oauth-client:${hash('sha256', `${base.href} ${redirectUri}`, 'base64url')}`
  const known = await parts.store.get(name, Registered)
  if (known) return known.clientId
  const metadata = {
    client_name: 'Watchhouse',
    app_type: 'signin',
    origin_url: new URL(redirectUri).origin,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope,
  }
  const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, through(parts, server, signal))
  const { client_id: clientId } = await oauth.processDynamicClientRegistrationResponse(answer)
  await parts.store.update(name, Registered, () => ({ value: { clientId }, expiresInMs: registeredMs }))
  return clientId
}

const garbled = () => new ServiceError('unavailable', 'AnyRouter sign-in failed: unexpected response')

/** What went wrong between us and gateway C, in words that have nothing of what was sent. */
const translated = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NetFailure)
      throw new ServiceError('unavailable', 'AnyRouter sign-in failed: AnyRouter is unreachable; try again')
    if (error instanceof oauth.ResponseBodyError)
      throw new ServiceError('conflict', `AnyRouter rejected the sign-in${reasonOf(error.error)}`)
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.WWWAuthenticateChallengeError)
      throw garbled()
    throw error
  }
}

/** The code of a standard; whatever else stands there is not handed on. */
const reasonOf = (code: string): string => (/^[a-z_]{1,40}$/.test(code) ? `: ${code}` : '')
