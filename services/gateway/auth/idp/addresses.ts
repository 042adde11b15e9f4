import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { builtAuth } from '../provider.ts'
import { authSettings } from '../config.ts'

const { IDP_OAUTH_ISSUER, SVC_IDP_PUBLISHABLE_KEY } = authSettings

/** Where an identity provider is met, without slashes at the ends. */
export interface IdpAddresses {
  /** Whose tokens count. */
  issuer: string
  /** Where it publishes the keys that sign them. */
  keys: string
  /** Its page where people sign in. */
  signIn: string
  /** Where a browser gets a session token for this site. */
  handshake: string
}

/** The addresses of the identity provider: those of `IDP_OAUTH_ISSUER`, else of the publishable key, at run time or of the build. */
export const idpAddresses = (env: Environment, build: BuildFacts | undefined): IdpAddresses | undefined => {
  const settings = read({ IDP_OAUTH_ISSUER, SVC_IDP_PUBLISHABLE_KEY }, env)
  const url =
    settings.IDP_OAUTH_ISSUER ??
    (settings.SVC_IDP_PUBLISHABLE_KEY ?? builtAuth(build).CLIENT_IDP_PUBLISHABLE_KEY)?.issuer
  if (url === undefined) return undefined
  const issuer = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  return {
    issuer,
    keys: `${issuer}/.well-known/jwks.json`,
    signIn: `${url.protocol}//${accountsHost(url.host)}/sign-in`,
    handshake: `${issuer}/v1/client/handshake`,
  }
}

/** Its pages stand beside its API: `clerk.example.com` has them at `accounts.example.com`, `x.clerk.accounts.dev` at `x.accounts.dev`. */
const accountsHost = (host: string): string =>
  host.replace(/^clerk\./, 'accounts.').replace('.clerk.accounts.', '.accounts.')
