import { hash } from 'node:crypto'
import * as oauth from 'oauth4webapi'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { Net } from '#shared/net/net.ts'
import { joinUrlPath } from './gateway-access.ts'
import { modelSettings } from './config.ts'

type SignInDeps = Pick<ServiceContext, 'env' | 'store'> & { net: Pick<Net, 'trusted'> }

/** The state of a sign-in between its start and its callback. */
export interface StartedSignIn {
  state: string
  verifier: string
  clientId: string
  redirectUri: string
  /** The base URL of AnyRouter when the sign-in was started. */
  base: string
}

/** Starts an OAuth authorization code grant with PKCE. Returns the URL for the redirect, and the state to store. */
export const startSignIn = async (
  parts: SignInDeps,
  { base, redirectUri, signal }: { base: URL; redirectUri: string; signal: AbortSignal },
): Promise<{ url: string; started: StartedSignIn }> => {
  const server = createAuthorizationServer(base)
  const clientId = await withServiceErrors(() => getClientId(parts, { base, server, redirectUri, signal }))
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const url = new URL(server.authorization_endpoint)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: oauthScope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  return { url: url.href, started: { state, verifier, clientId, redirectUri, base: base.href } }
}

/** Exchanges the authorization code of the callback for an API key. Returns undefined if the user declined. */
export const finishSignIn = async (
  parts: SignInDeps,
  { started, query, signal }: { started: StartedSignIn; query: string; signal: AbortSignal },
): Promise<{ key: string; expiresInMs: number | undefined } | undefined> => {
  const [server, client] = [createAuthorizationServer(new URL(started.base)), { client_id: started.clientId }]
  const callback = new URLSearchParams(query)
  if (callback.has('error')) return undefined
  const { access_token: key, expires_in: seconds } = await withServiceErrors(async () => {
    const parameters = oauth.validateAuthResponse(server, client, callback, started.state)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      started.redirectUri,
      started.verifier,
      createOauthOptions(parts, server, signal),
    )
    return oauth.processAuthorizationCodeResponse(server, client, response)
  })
  if (!/^[\x21-\x7e]{8,4096}$/.test(key)) throw createUnexpectedResponseError()
  return { key, expiresInMs: seconds === undefined ? undefined : seconds * 1_000 }
}

/** The requested OAuth scope: the key permits inference only. */
const oauthScope = 'inference'

/** Returns the OAuth endpoints of AnyRouter. They are fixed, because AnyRouter publishes no metadata at its root. */
const createAuthorizationServer = (base: URL) => ({
  issuer: base.origin,
  authorization_endpoint: joinUrlPath(base, 'mcp/oauth/authorize').href,
  token_endpoint: joinUrlPath(base, 'mcp/oauth/token').href,
  registration_endpoint: joinUrlPath(base, 'mcp/oauth/register').href,
})
type Server = ReturnType<typeof createAuthorizationServer>

const timeoutMs = 10_000

/** Returns options that make the OAuth library send requests through `shared/net`, without following redirects. */
const createOauthOptions = ({ net }: SignInDeps, { issuer }: Server, signal: AbortSignal) => ({
  signal,
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  [oauth.customFetch]: (url: string, { method, headers, body }: oauth.CustomFetchOptions<string, unknown>) =>
    net.trusted(url, { method, headers, body: body == null ? undefined : String(body), signal, timeoutMs }),
})

const RegisteredClient = z.object({ clientId: z.string().max(512) })
const clientLifetimeMs = 30 * 86_400_000

interface ClientRegistration {
  base: URL
  server: Server
  redirectUri: string
  signal: AbortSignal
}

/** Returns the OAuth client id: the configured one, or one registered for this address. Registers one if needed. */
const getClientId = async (
  parts: SignInDeps,
  { base, server, redirectUri, signal }: ClientRegistration,
): Promise<string> => {
  const configured = parseSettings(modelSettings, parts.env).GATEWAY_C_OAUTH_CLIENT_ID?.trim()
  if (configured) return configured
  const name = `agent:oauth-client:${hash('sha256', `${base.href} ${redirectUri}`, 'base64url')}`
  const known = await parts.store.get(name, RegisteredClient)
  if (known) return known.clientId
  const metadata = {
    client_name: 'Watchhouse',
    app_type: 'signin',
    origin_url: new URL(redirectUri).origin,
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: oauthScope,
  }
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    metadata,
    createOauthOptions(parts, server, signal),
  )
  const { client_id: clientId } = await oauth.processDynamicClientRegistrationResponse(response)
  await parts.store.update(name, RegisteredClient, () => ({ value: { clientId }, expiresInMs: clientLifetimeMs }))
  return clientId
}

const createUnexpectedResponseError = () =>
  new ServiceError('unavailable', 'AnyRouter sign-in failed: unexpected response')

/** Runs `work` and converts its errors to service errors, which never quote the exchanged data. */
const withServiceErrors = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NetFailure)
      throw new ServiceError('unavailable', 'AnyRouter sign-in failed: AnyRouter is unreachable; try again')
    if (error instanceof oauth.ResponseBodyError)
      throw new ServiceError('conflict', `AnyRouter rejected the sign-in${formatOauthError(error.error)}`)
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.WWWAuthenticateChallengeError)
      throw createUnexpectedResponseError()
    throw error
  }
}

/** Returns an OAuth error code as a suffix for a message; empty for any other text. */
const formatOauthError = (code: string): string => (/^[a-z_]{1,40}$/.test(code) ? `: ${code}` : '')
