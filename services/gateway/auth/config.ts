import type { Environment } from '#shared/config/environment.ts'
import {
  signingKeySetting,
  flagSetting,
  listSetting,
  optionalFlagSetting,
  optionalTextSetting,
  findSettingProblems,
  parseSettings,
  secretSetting,
  type Setting,
  type SettingProblem,
  urlSetting,
  type SettingValues,
} from '#shared/config/setting.ts'
import { createFieldHeadersSetting, createHeaderNameSetting } from '../request/header.ts'

const hostShape = /^(?<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?)\$$/i

/** The content of a publishable key. */
interface PublishableKey {
  /** URL of the provider; undefined if the key contains none, so that `IDP_OAUTH_ISSUER` is required. */
  issuer: URL | undefined
}

/** Parses a publishable key; throws if the prefix `pk_` is missing, as in a secret key. */
export const readPublishableKey = (text: string): PublishableKey => {
  const key = text.trim()
  if (!/^pk_\S+$/.test(key)) throw new Error('must be a publishable key, which starts with pk_')
  return { issuer: issuerIn(key) }
}

/**
 * Returns the URL in a key that ends in the base64 of `<host>$` after `pk_` or `pk_live_`. Base64url can contain
 * underscores, so the text after each underscore is tried.
 */
const issuerIn = (key: string): URL | undefined => {
  const ends = [...key.matchAll(/_/g)].map(({ index }) => key.slice(index + 1))
  const hosts = ends.map((end) => hostShape.exec(Buffer.from(end, 'base64').toString())?.groups?.host)
  const url = hosts
    .map((host) => (host === undefined ? null : URL.parse(`https://${host}`)))
    .find((each) => each !== null)
  return url ?? undefined
}

/** Returns the setting for a publishable key, which may contain the host of the provider. */
const publishableKey = (doc: string): Setting<PublishableKey | undefined> => ({
  doc,
  audience: 'client',
  fallback: 'none',
  allowed: 'pk_…',
  parse: (given) => (given === undefined ? undefined : readPublishableKey(given)),
})

/** Settings of API keys. */
export const apiKeySettings = {
  SVC_API_KEY_SECRET: signingKeySetting(
    "Secret that signs `svc_` keys, and the operator's bearer token for issuing them. Setting it enables API keys alongside any provider.",
  ),
} as const

/** Allowed authentication providers. */
const providers = ['none', 'idp', 'proxy', 'trusted'] as const
export type AuthProvider = (typeof providers)[number]

/** Returns the setting for the authentication provider. If undefined, the web build or cloud mode determines it. */
const provider = (doc: string): Setting<AuthProvider | undefined> => ({
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

/** Returns a setting for a URL of the identity provider or of Cloudflare Access. The scheme defaults to https. */
const providerUrl = (doc: string): Setting<URL | undefined> => ({
  ...urlSetting(doc, { protocols: ['https', 'http'] }),
  parse: (given) => {
    const full = given === undefined || given.includes('://') ? given : `https://${given}`
    return urlSetting(doc, { protocols: ['https', 'http'] }).parse(full)
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
  IDP_SECRET_KEY: secretSetting(
    'Secret key for the API of the identity provider (Clerk), used to renew and end sessions and to verify tokens.',
  ),
  IDP_PUBLISHABLE_KEY: publishableKey('Fallback publishable key for the OAuth metadata of the MCP server.'),
  IDP_OAUTH_ISSUER: providerUrl('URL of the identity provider, instead of the one in its publishable key.'),
  IDP_API_URL: apiUrl('https://api.clerk.com', 'API of the identity provider.'),
  SVC_IDP_PUBLIC_READ: optionalFlagSetting('Allow anonymous reads. Unset: off, on in cloud mode.'),
} as const

/** Settings of the provider `proxy`: Cloudflare Access, or a proxy with a shared secret. */
export const proxySettings = {
  SVC_EDGE_ACCESS_TEAM_DOMAIN: providerUrl('Team domain of Cloudflare Access, whose tokens are then verified.'),
  SVC_EDGE_ACCESS_AUD: optionalTextSetting('Audience (AUD) tag that Cloudflare Access tokens must have.'),
  SVC_PROXY_AUTH_SECRET: signingKeySetting('Shared secret of the proxy. Unset: identity headers are ignored.'),
  SVC_PROXY_SHARED_SECRET_HEADER: createHeaderNameSetting('X-Svc-Proxy-Secret', sharedSecretHeader),
  SVC_PROXY_AUTH_HEADER: createHeaderNameSetting('X-Forwarded-User', 'Header that contains the user.'),
} as const

/** Settings of the provider `trusted`: user headers of a trusted proxy. */
export const trustedProviderSettings = {
  SVC_TRUSTED_AUTH_SECRET: signingKeySetting('Shared secret of the trusted proxy.'),
  SVC_TRUSTED_ALLOW_INSECURE: flagSetting(
    false,
    'Trust identity headers without a secret. Safe only when the service is reachable only through the proxy.',
  ),
  SVC_TRUSTED_SHARED_SECRET_HEADER: createHeaderNameSetting('X-Svc-Proxy-Secret', sharedSecretHeader),
  SVC_TRUSTED_USER_HEADER: createHeaderNameSetting(
    'X-Forwarded-User',
    'Header that contains the user ID; without it the email address is used.',
  ),
  SVC_TRUSTED_EMAIL_HEADER: createHeaderNameSetting('X-Forwarded-Email', 'Header that contains the email address.'),
  SVC_TRUSTED_NAME_HEADER: createHeaderNameSetting(
    'X-Forwarded-Preferred-Username',
    'Header that contains the display name.',
  ),
  SVC_TRUSTED_AVATAR_HEADER: createHeaderNameSetting('X-Forwarded-Avatar', 'Header that contains the avatar URL.'),
  SVC_TRUSTED_GROUPS_HEADER: createHeaderNameSetting(
    'X-Forwarded-Groups',
    'Header that contains the groups, separated by commas or spaces.',
  ),
  SVC_TRUSTED_ROLE_HEADER: createHeaderNameSetting(
    'X-Forwarded-Role',
    'Header that contains one role, which is treated as a group.',
  ),
  SVC_TRUSTED_CUSTOM_HEADERS: createFieldHeadersSetting('Additional user fields, as field:Header-Name pairs.'),
  SVC_TRUSTED_ALLOWED_GROUPS: listSetting(
    'Allowed groups, case-insensitive; a user needs at least one. Unset: all groups are allowed.',
  ),
} as const

/** All settings of authentication. */
export const authSettings = {
  SVC_AUTH_PROVIDER: provider('Authentication provider for users, in addition to API keys.'),
  ...apiKeySettings,
  ...idpSettings,
  ...proxySettings,
  ...trustedProviderSettings,
} as const

/** Returns the conflicts between the settings of a provider, which defaults to the one set in the environment. */
export const findAuthProblems = (env: Environment, named?: AuthProvider): readonly SettingProblem[] => {
  if (findSettingProblems(authSettings, env).length > 0) return []
  const settings = parseSettings(authSettings, env)
  const provider = named ?? settings.SVC_AUTH_PROVIDER
  if (provider === 'proxy') return edgeAccessProblems(settings)
  return provider === 'trusted' ? trustGateProblems(settings) : []
}

type AuthValues = SettingValues<typeof authSettings>

const edgeAccessProblems = (settings: AuthValues): readonly SettingProblem[] => {
  const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_EDGE_ACCESS_AUD: audience } = settings
  if ((team === undefined) === (audience === undefined)) return []
  const sentence = 'is required: SVC_EDGE_ACCESS_TEAM_DOMAIN and SVC_EDGE_ACCESS_AUD must be set together'
  return [{ name: team === undefined ? 'SVC_EDGE_ACCESS_TEAM_DOMAIN' : 'SVC_EDGE_ACCESS_AUD', sentence }]
}

/**
 * Returns whether the provider `proxy` can verify the proxy, by a Cloudflare Access team or a shared secret. Neither is
 * required at start, because both can be set later.
 */
export const isProxyConfigured = (env: Environment): boolean => {
  const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_PROXY_AUTH_SECRET: secret } = parseSettings(proxySettings, env)
  return team !== undefined || secret !== undefined
}

/** Requires exactly one trust gate: the shared secret or SVC_TRUSTED_ALLOW_INSECURE. */
const trustGateProblems = (settings: AuthValues): readonly SettingProblem[] => {
  const { SVC_TRUSTED_AUTH_SECRET: secret, SVC_TRUSTED_ALLOW_INSECURE: insecure } = settings
  if ((secret !== undefined) !== insecure) return []
  const sentence = insecure
    ? 'cannot be set together with SVC_TRUSTED_ALLOW_INSECURE; unset SVC_TRUSTED_ALLOW_INSECURE to require the secret'
    : 'is required by SVC_AUTH_PROVIDER=trusted; set SVC_TRUSTED_ALLOW_INSECURE=true instead if the service is reachable only through the proxy'
  return [{ name: 'SVC_TRUSTED_AUTH_SECRET', sentence }]
}
