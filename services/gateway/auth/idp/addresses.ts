import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { readBuildAuthSettings } from '../provider.ts'
import { authSettings } from '../config.ts'

const { IDP_OAUTH_ISSUER, SVC_IDP_PUBLISHABLE_KEY } = authSettings

/** URLs of an identity provider, without trailing slashes. */
export interface IdpAddresses {
  /** Issuer (`iss`) of accepted tokens. */
  issuer: string
  /** JWKS with the public keys of its tokens. */
  keys: string
  /** Sign-in page for users. */
  signIn: string
  /** Endpoint that issues a session token for this site to a browser. */
  handshake: string
}

/** Returns the URLs of the provider, from `IDP_OAUTH_ISSUER`, else from the publishable key of run time or build. */
export const resolveIdpAddresses = (env: Environment, build: BuildInfo | undefined): IdpAddresses | undefined => {
  const settings = parseSettings({ IDP_OAUTH_ISSUER, SVC_IDP_PUBLISHABLE_KEY }, env)
  const url =
    settings.IDP_OAUTH_ISSUER ??
    (settings.SVC_IDP_PUBLISHABLE_KEY ?? readBuildAuthSettings(build).CLIENT_IDP_PUBLISHABLE_KEY)?.issuer
  if (url === undefined) return undefined
  const issuer = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  return {
    issuer,
    keys: `${issuer}/.well-known/jwks.json`,
    signIn: `${url.protocol}//${accountsHost(url.host)}/sign-in`,
    handshake: `${issuer}/v1/client/handshake`,
  }
}

/**
 * Returns the host of the sign-in pages, which differs from that of the API: `accounts.example.com` for
 * `clerk.example.com`, and `x.accounts.dev` for `x.clerk.accounts.dev`.
 */
const accountsHost = (host: string): string =>
  host.replace(/^clerk\./, 'accounts.').replace('.clerk.accounts.', '.accounts.')
