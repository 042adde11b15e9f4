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

/** What a key says of its provider. */
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
    "Signs `svc_` keys and is the operator's bearer for issuing them; setting it turns API keys on beside any provider.",
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

const sharedSecretHeader = 'Header in which the proxy sends its shared secret.'

const idpSettings = {
  SVC_IDP_PUBLISHABLE_KEY: publishableKey('Publishable key of the identity provider, which names its address.'),
  IDP_SECRET_KEY: secret(
    'Secret key for the API of the identity provider: keeps sessions alive, ends them, and verifies tokens.',
  ),
  IDP_PUBLISHABLE_KEY: publishableKey('Publishable key that the OAuth metadata of the tool server falls back to.'),
  IDP_OAUTH_ISSUER: providerUrl('Address of the identity provider in place of the one its publishable key names.'),
  IDP_API_URL: apiUrl('https://api.clerk.com', 'API of the identity provider.'),
  SVC_IDP_PUBLIC_READ: maybeFlag('Let anybody read without signing in; on in cloud mode when unset.'),
} as const

/** What a proxy that vouches for people obeys. */
export const proxySettings = {
  SVC_EDGE_ACCESS_TEAM_DOMAIN: providerUrl('Team address of the access gateway, whose tokens are then verified.'),
  SVC_EDGE_ACCESS_AUD: optional('Audience tag that tokens of the access gateway must carry.'),
  SVC_PROXY_AUTH_SECRET: signingKey('Shared secret of the proxy; without it identity headers are ignored.'),
  SVC_PROXY_SHARED_SECRET_HEADER: headerName('X-Svc-Proxy-Secret', sharedSecretHeader),
  SVC_PROXY_AUTH_HEADER: headerName('X-Forwarded-User', 'Header in which the proxy names the person.'),
} as const

/** What a trusted proxy obeys. */
export const trustedSettings = {
  SVC_TRUSTED_AUTH_SECRET: signingKey('Shared secret of the trusted proxy.'),
  SVC_TRUSTED_ALLOW_INSECURE: flag(
    false,
    'Trust identity headers without a secret; safe only when nobody reaches the service but through the proxy.',
  ),
  SVC_TRUSTED_SHARED_SECRET_HEADER: headerName('X-Svc-Proxy-Secret', sharedSecretHeader),
  SVC_TRUSTED_USER_HEADER: headerName(
    'X-Forwarded-User',
    'Header of the subject; without it the email is the subject.',
  ),
  SVC_TRUSTED_EMAIL_HEADER: headerName('X-Forwarded-Email', 'Header of the email address.'),
  SVC_TRUSTED_NAME_HEADER: headerName('X-Forwarded-Preferred-Username', 'Header of the name to show.'),
  SVC_TRUSTED_AVATAR_HEADER: headerName('X-Forwarded-Avatar', 'Header of the address of a picture.'),
  SVC_TRUSTED_GROUPS_HEADER: headerName('X-Forwarded-Groups', 'Header of the groups, separated by commas or blanks.'),
  SVC_TRUSTED_ROLE_HEADER: headerName('X-Forwarded-Role', 'Header of one role, which counts as a group.'),
  SVC_TRUSTED_CUSTOM_HEADERS: fieldHeaders('Further fields of a person, as field:Header-Name pairs.'),
  SVC_TRUSTED_ALLOWED_GROUPS: list('Groups of which a person must have one, in any case; unset admits everybody.'),
} as const

/** What signing in obeys. */
export const authSettings = {
  SVC_AUTH_PROVIDER: provider('Who vouches for people besides API keys.'),
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

/** Whether the provider `proxy` has any way to know that a proxy asks; both may be set later, so none is no mistake. */
export const isProxyNamed = (env: Environment): boolean => {
  const { SVC_EDGE_ACCESS_TEAM_DOMAIN: team, SVC_PROXY_AUTH_SECRET: secret } = read(proxySettings, env)
  return team !== undefined || secret !== undefined
}

/** Headers are believed for one reason and one only, so that nobody has to guess which it was. */
const trustGateProblems = (settings: AuthValues): readonly SettingProblem[] => {
  const { SVC_TRUSTED_AUTH_SECRET: secret, SVC_TRUSTED_ALLOW_INSECURE: insecure } = settings
  if ((secret !== undefined) !== insecure) return []
  const sentence = insecure
    ? 'cannot be set together with SVC_TRUSTED_ALLOW_INSECURE; keep one trust gate, the secret if you can'
    : 'is required by the provider trusted, or SVC_TRUSTED_ALLOW_INSECURE=true when nobody can go around the proxy'
  return [{ name: 'SVC_TRUSTED_AUTH_SECRET', sentence }]
}
