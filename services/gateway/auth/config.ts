import type { Environment } from '#shared/config/environment.ts'
import {
  signingKey,
  flag,
  list,
  maybeFlag,
  optional,
  problemsOf,
  read,
  secret,
  type Setting,
  type SettingProblem,
  url,
  type Values,
} from '#shared/config/setting.ts'
import { fieldHeaders, headerName } from '../request/header.ts'

const hostShape = /^(?<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?)\$$/i

/** What a key states about its provider. */
interface PublishableKey {
  /** The address of the provider; undefined for a key that names none, beside which `IDP_OAUTH_ISSUER` is needed. */
  issuer: URL | undefined
}

/** The publishable key in a text; throws a sentence for a text without the prefix, such as a secret key. */
export const readPublishableKey = (text: string): PublishableKey => {
  const key = text.trim()
  if (!/^pk_\S+$/.test(key)) throw new Error('must be a publishable key, which begins with pk_')
  return { issuer: issuerIn(key) }
}

/** A key that names its provider ends in the base64 of `<host>$`, behind `pk_` or `pk_live_`. Base64url may hold underscores too. */
const issuerIn = (key: string): URL | undefined => {
  const ends = [...key.matchAll(/_/g)].map(({ index }) => key.slice(index + 1))
  const hosts = ends.map((end) => hostShape.exec(Buffer.from(end, 'base64').toString())?.groups?.host)
  const url = hosts
    .map((host) => (host === undefined ? null : URL.parse(`https://${host}`)))
    .find((each) => each !== null)
  return url ?? undefined
}

/** A publishable key of any form. */
const publishableKey = (doc: string): Setting<PublishableKey | undefined> => ({
  doc,
  audience: 'client',
  fallback: 'none',
  allowed: 'pk_…',
  parse: (given) => (given === undefined ? undefined : readPublishableKey(given)),
})

/** What API keys obey. */
export const keySettings = {
  SVC_API_KEY_SECRET: signingKey(
    "Secret that signs `svc_` keys, and the operator's bearer token for issuing them. Setting it enables API keys alongside any provider.",
  ),
} as const

/** Who may vouch for people. */
const providers = ['none', 'idp', 'proxy', 'trusted'] as const
export type Provider = (typeof providers)[number]

/** A provider, or nothing where the build or the deployment mode decides. */
const provider = (doc: string): Setting<Provider | undefined> => ({
  doc,
  audience: 'client',
  fallback: 'none; idp in cloud mode',
  allowed: providers.join(', '),
  parse: (given) => {
    if (given === undefined) return undefined
    const known = providers.find((each) => each === given.trim().toLowerCase())
    if (known === undefined) throw new Error(`must be one of ${providers.join(', ')}`)
    return known
  },
})

/** An address of the identity provider or access gateway; a bare host means https. */
const providerUrl = (doc: string): Setting<URL | undefined> => ({
  ...url(doc, { protocols: ['https', 'http'] }),
  parse: (given) => {
    const full = given === undefined || given.includes('://') ? given : `https://${given}`
    return url(doc, { protocols: ['https', 'http'] }).parse(full)
  },
})

const apiUrl = (fallback: string, doc: string): Setting<URL> => ({
  ...providerUrl(doc),
  fallback,
  parse: (given) => providerUrl(doc).parse(given) ?? new URL(fallback),
})

const sharedSecretHeader = 'Header that contains the shared secret of the proxy.'

const idpSettings = {
  SVC_IDP_PUBLISHABLE_KEY: publishableKey('Publishable key of the identity provider (Clerk), which contains its URL.'),
  IDP_SECRET_KEY: secret(
    'Secret key for the API of the identity provider (Clerk), used to renew and end sessions and to verify tokens.',
  ),
  IDP_PUBLISHABLE_KEY: publishableKey('Fallback publishable key for the OAuth metadata of the MCP server.'),
  IDP_OAUTH_ISSUER: providerUrl('URL of the identity provider, instead of the one in its publishable key.'),
  IDP_API_URL: apiUrl('https://api.clerk.com', 'API of the identity provider.'),
  SVC_IDP_PUBLIC_READ: maybeFlag('Allow anonymous reads. Unset: off, on in cloud mode.'),
} as const

/** What a proxy that vouches for people obeys. */
export const proxySettings = {
  SVC_EDGE_ACCESS_TEAM_DOMAIN: providerUrl('Team domain of Cloudflare Access, whose tokens are then verified.'),
  SVC_EDGE_ACCESS_AUD: optional('Audience (AUD) tag that Cloudflare Access tokens must have.'),
  SVC_PROXY_AUTH_SECRET: signingKey('Shared secret of the proxy. Unset: identity headers are ignored.'),
  SVC_PROXY_SHARED_SECRET_HEADER: headerName('X-Svc-Proxy-Secret', sharedSecretHeader),
  SVC_PROXY_AUTH_HEADER: headerName('X-Forwarded-User', 'Header that contains the user.'),
} as const

/** Settings for authentication by a trusted proxy. */
export const trustedSettings = {
  SVC_TRUSTED_AUTH_SECRET: signingKey('Shared secret of the trusted proxy.'),
  SVC_TRUSTED_ALLOW_INSECURE: flag(
    false,
    'Trust identity headers without a secret. Safe only when the service is reachable only through the proxy.',
  ),
  SVC_TRUSTED_SHARED_SECRET_HEADER: headerName('X-Svc-Proxy-Secret', sharedSecretHeader),
  SVC_TRUSTED_USER_HEADER: headerName(
    'X-Forwarded-User',
    'Header that contains the user ID; without it the email address is used.',
  ),
  SVC_TRUSTED_EMAIL_HEADER: headerName('X-Forwarded-Email', 'Header that contains the email address.'),
  SVC_TRUSTED_NAME_HEADER: headerName('X-Forwarded-Preferred-Username', 'Header that contains the display name.'),
  SVC_TRUSTED_AVATAR_HEADER: headerName('X-Forwarded-Avatar', 'Header that contains the avatar URL.'),
  SVC_TRUSTED_GROUPS_HEADER: headerName(
    'X-Forwarded-Groups',
    'Header that contains the groups, separated by commas or spaces.',
  ),
  SVC_TRUSTED_ROLE_HEADER: headerName(
    'X-Forwarded-Role',
    'Header that contains one role, which is treated as a group.',
  ),
  SVC_TRUSTED_CUSTOM_HEADERS: fieldHeaders('Additional user fields, as field:Header-Name pairs.'),
  SVC_TRUSTED_ALLOWED_GROUPS: list(
    'Allowed groups, case-insensitive; a user needs at least one. Unset: all groups are allowed.',
  ),
} as const

/** What signing in obeys. */
export const authSettings = {
  SVC_AUTH_PROVIDER: provider('Authentication provider for users, in addition to API keys.'),
  ...keySettings,
  ...idpSettings,
  ...proxySettings,
  ...trustedSettings,
} as const

/** What is wrong with these settings taken together under a provider: the environment's unless another is named. */
export const authProblems = (env: Environment, named?: Provider): readonly SettingProblem[] => {
  if (problemsOf(authSettings, env).length > 0) return []
  const settings = read(authSettings, env)
  const provider = named ?? settings.SVC_AUTH_PROVIDER
  if (provider === 'proxy') return edgeAccessProblems(settings)
  return provider === 'trusted' ? trustGateProblems(settings) : []
}

type AuthValues = Values<typeof authSettings>

const edgeAccessProblems = (settings: AuthValues): readonly SettingProblem[] => {
  const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_EDGE_ACCESS_AUD: audience } = settings
  if ((team === undefined) === (audience === undefined)) return []
  const sentence = 'is required beside the other of the two: a token counts only for one team and one application'
  return [{ name: team === undefined ? 'SVC_EDGE_ACCESS_TEAM_DOMAIN' : 'SVC_EDGE_ACCESS_AUD', sentence }]
}

/** Returns whether the provider `proxy` can recognize the proxy. Both settings may be added later, so neither is required. */
export const isProxyNamed = (env: Environment): boolean => {
  const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_PROXY_AUTH_SECRET: secret } = read(proxySettings, env)
  return team !== undefined || secret !== undefined
}

/** Headers are trusted for exactly one reason, so that the configuration is unambiguous. */
const trustGateProblems = (settings: AuthValues): readonly SettingProblem[] => {
  const { SVC_TRUSTED_AUTH_SECRET: secret, SVC_TRUSTED_ALLOW_INSECURE: insecure } = settings
  if ((secret !== undefined) !== insecure) return []
  const sentence = insecure
    ? 'cannot be set together with SVC_TRUSTED_ALLOW_INSECURE; keep one trust gate, the secret if you can'
    : 'is required by the provider trusted, or SVC_TRUSTED_ALLOW_INSECURE=true if the service is reachable only through the proxy'
  return [{ name: 'SVC_TRUSTED_AUTH_SECRET', sentence }]
}
