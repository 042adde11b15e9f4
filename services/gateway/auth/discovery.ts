import { scopes } from '#proto/call.ts'
import type { CliDiscovery } from '#proto/http/auth.ts'
import type { BuildInfo } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { DeviceLogin } from './device/open-device-login.ts'
import type { ApiKeys } from './keys/keys.ts'
import { resolveAnonymousAccess, resolveAuthProvider } from './provider.ts'

interface DiscoveryDeps {
  env: Environment
  build: BuildInfo | undefined
  keys: ApiKeys
  deviceLogin: DeviceLogin
}

/** Returns how programs can authenticate with the current configuration, without secrets. */
export const createCliDiscovery = ({ env, build, keys, deviceLogin }: DiscoveryDeps): CliDiscovery => {
  const { enabled, mode, deviceOnly, reason } = deviceLogin.availability()
  const anonymous = resolveAnonymousAccess(env, build)
  const isOpen = anonymous === 'write'
  const method = isOpen || !keys.enabled() ? 'none' : enabled ? 'device' : 'api_key'
  return {
    method,
    api: isOpen ? 'open' : 'key_required',
    authProvider: resolveAuthProvider(env, build),
    deviceLogin: { enabled, mode, deviceOnly, reason, store: deviceLogin.kind },
    hint: isOpen ? openHint : `${anonymous === 'read' ? readHint : ''}${hints[method]}`,
  }
}

const openHint = 'No credentials are required: anyone who can reach this server can call it.'
const readHint = 'Reading requires no credentials; changes, the agent and SQL do. '
const hints = {
  none: 'A key is required, but API keys are disabled: ask the operator to set SVC_API_KEY_SECRET.',
  api_key: 'Ask the operator for a key and send it as Authorization: Bearer svc_…',
  device: 'Sign in with the device flow: POST /auth/device/code, then poll POST /auth/token.',
} as const

/** Input of `createAuthNotes`. URLs are absolute, so that agents can follow them. */
interface NotesInput {
  discovery: CliDiscovery
  /** Public URL of the product, without a trailing slash. */
  publicUrl: string
  /** Issuer of the OAuth tokens that the MCP server accepts; undefined without an identity provider. */
  issuer: string | undefined
}

/** Returns authentication notes for agents as Markdown, with the configured methods only. */
export const createAuthNotes = (noted: NotesInput): string => {
  const { discovery, publicUrl } = noted
  const sections = [
    `# Authentication\n\nAPI: ${publicUrl}/api/v1. ${discovery.hint}`,
    discovery.api === 'open' ? undefined : formatCredentialUsage(noted),
    discovery.deviceLogin.enabled ? deviceFlow(noted) : undefined,
    discovery.method === 'api_key' || discovery.method === 'device' ? operatorKeys(publicUrl) : undefined,
    noted.issuer === undefined ? undefined : oauth(publicUrl, noted.issuer),
    `## More\n\n- Configured methods, as JSON: ${publicUrl}/api/v1/auth/cli\n- Your identity and permissions: ${publicUrl}/api/v1/auth/me\n- All routes: ${publicUrl}/api/v1/openapi.json`,
  ]
  return `${sections.filter((section) => section !== undefined).join('\n\n')}\n`
}

const formatCredentialUsage = ({ discovery: { method, authProvider } }: NotesInput): string => {
  const ways = [
    method === 'none' ? undefined : 'Send `Authorization: Bearer svc_…` or `x-api-key: svc_…` with every request.',
    signIns[authProvider],
    'Missing or invalid credentials return 401; missing permissions return 403.',
  ]
  return `## Sending credentials\n\n${ways.filter((way) => way !== undefined).join(' ')}`
}

const signIns: Readonly<Record<string, string>> = {
  idp: 'Users sign in with the identity provider; its session token is accepted as a bearer token.',
  proxy: 'The authenticating proxy signs users in.',
  trusted: 'The authenticating proxy signs users in.',
}

const deviceFlow = ({ discovery, publicUrl }: NotesInput): string => {
  const approver = discovery.deviceLogin.deviceOnly ? 'the operator' : 'a signed-in user'
  return `## Device login (RFC 8628)

1. \`POST ${publicUrl}/auth/device/code\` with \`client_id=<your name>\`. The response contains \`device_code\`, \`user_code\`, \`verification_uri\` and \`interval\`.
2. Show \`user_code\` and \`verification_uri_complete\`; ${approver} approves the code.
3. Every \`interval\` seconds \`POST ${publicUrl}/auth/token\` with \`grant_type=urn:ietf:params:oauth:grant-type:device_code\` and \`device_code\`. Wait on \`authorization_pending\`, wait five seconds longer on \`slow_down\`, stop on any other error.
4. \`access_token\` is an API key that is valid for 30 days.`
}

const operatorKeys = (publicUrl: string): string => `## Keys from the operator

\`POST ${publicUrl}/api/v1/auth/api-key\` with the operator secret as bearer token and \`{"label": "ci", "days": 30, "scopes": ["read"]}\`. Scopes: ${scopes.join(', ')}; \`write\` includes \`read\`. Without \`scopes\`, a key has all of them.`

const oauth = (publicUrl: string, issuer: string): string => `## OAuth for the MCP server

\`${publicUrl}/api/mcp\` also accepts access tokens of ${issuer}; see ${publicUrl}/.well-known/oauth-protected-resource/api/mcp (RFC 9728).`
