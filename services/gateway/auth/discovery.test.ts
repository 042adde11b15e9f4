import { createClock } from '#shared/time/clock.ts'
import { describe, expect, it } from 'vitest'
import type { CliDiscovery } from '#proto/http/auth.ts'
import { openCounters } from '#shared/store/counters.ts'
import { openStore } from '#shared/store/open.ts'
import { openDeniedUsers } from './denied-users.ts'
import { openDeviceLogin } from './device/open-device-login.ts'
import { createCliDiscovery, createAuthNotes } from './discovery.ts'
import { openApiKeys } from './keys/keys.ts'

const discovered = async (env: Record<string, string>): Promise<CliDiscovery> => {
  const store = await openStore({ env: {}, busIsShared: false })
  const clock = createClock(() => 0)
  const keys = openApiKeys({ env, store, clock, denied: openDeniedUsers({}, store) })
  const codeStore = { kind: 'store' as const, store, [Symbol.asyncDispose]: async () => {} }
  const counters = await openCounters({})
  const deviceLogin = openDeviceLogin({ env, build: undefined, codeStore, counters, clock, keys })
  return createCliDiscovery({ env, build: undefined, keys, deviceLogin })
}

const secret = { SVC_API_KEY_SECRET: 'hush hush' }
const device = { SVC_DEVICE_LOGIN: 'true' }
const idp = { SVC_AUTH_PROVIDER: 'idp' }

describe('the discovery notes for a command line', () => {
  it.each<[env: Record<string, string>, method: string, api: string, provider: string, enabled: boolean]>([
    [{}, 'none', 'open', 'none', false],
    [device, 'none', 'open', 'none', false],
    [secret, 'api_key', 'key_required', 'none', false],
    [{ ...secret, ...device }, 'device', 'key_required', 'none', true],
    [idp, 'none', 'key_required', 'idp', false],
    [{ ...idp, ...secret }, 'api_key', 'key_required', 'idp', false],
    [{ ...idp, ...secret, ...device }, 'device', 'key_required', 'idp', true],
    [{ SVC_CLOUD_MODE: 'true', ...secret }, 'device', 'key_required', 'idp', true],
    [{ SVC_AUTH_PROVIDER: 'proxy', ...secret }, 'api_key', 'key_required', 'proxy', false],
    [{ SVC_AUTH_PROVIDER: 'trusted' }, 'none', 'key_required', 'trusted', false],
  ])('with %j is %s', async (env, method, api, authProvider, enabled) => {
    const discovery = await discovered(env)
    expect(discovery).toMatchObject({ method, api, authProvider, deviceLogin: { enabled, store: 'store' } })
    expect(discovery.hint).toMatch(/\.$|…$/)
    expect(JSON.stringify(discovery)).not.toContain(secret.SVC_API_KEY_SECRET)
  })
})

describe('the notes for agents', () => {
  const notes = async (env: Record<string, string>, issuer?: string) =>
    createAuthNotes({ discovery: await discovered(env), publicUrl: 'https://watch.example', issuer })

  it('state that no credentials are required if this is so', async () => {
    const text = await notes({})
    expect(text).toContain('No credentials are required')
    for (const absent of ['Bearer', 'Device login', 'OAuth']) expect(text).not.toContain(absent)
  })

  it('list the configured methods with absolute URLs, without secrets', async () => {
    const text = await notes({ ...idp, ...secret, ...device, SVC_IDP_PUBLIC_READ: 'true' }, 'https://clerk.example')
    for (const expected of [
      'Reading requires no credentials',
      'Authorization: Bearer svc_',
      'https://watch.example/auth/device/code',
      'a signed-in user approves',
      'https://watch.example/api/v1/auth/api-key',
      'https://clerk.example',
      'https://watch.example/.well-known/oauth-protected-resource/api/mcp',
    ])
      expect(text).toContain(expected)
    expect(text).not.toContain(secret.SVC_API_KEY_SECRET)
  })

  it('omit methods that are not configured', async () => {
    const text = await notes(secret)
    expect(text).toContain('Keys from the operator')
    for (const absent of ['Device login', 'OAuth', 'identity provider']) expect(text).not.toContain(absent)
    expect(await notes(idp)).not.toContain('Bearer svc_')
  })
})
