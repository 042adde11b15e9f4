import { describe, expect, it } from 'vitest'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import { findAuthProblems, authSettings, type AuthProvider } from './config.ts'

type Variables = Record<string, string>

const secretRequired = {
  name: 'SVC_TRUSTED_AUTH_SECRET',
  sentence:
    'is required by SVC_AUTH_PROVIDER=trusted; set SVC_TRUSTED_ALLOW_INSECURE=true instead if the service is reachable only through the proxy',
}
const oneOfTwo = 'is required: SVC_EDGE_ACCESS_TEAM_DOMAIN and SVC_EDGE_ACCESS_AUD must be set together'

describe('authentication settings in combination', () => {
  it.each<[Variables, { name: string; sentence: string }[], AuthProvider?]>([
    [{}, []],
    [{ SVC_AUTH_PROVIDER: 'trusted' }, [secretRequired]],
    [{ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_ALLOW_INSECURE: 'perhaps' }, [secretRequired]],
    [{ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: 's' }, []],
    [{ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_ALLOW_INSECURE: 'true' }, []],
    [
      { SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_ALLOW_INSECURE: 'true', SVC_TRUSTED_AUTH_SECRET: 's' },
      [
        {
          name: 'SVC_TRUSTED_AUTH_SECRET',
          sentence:
            'cannot be set together with SVC_TRUSTED_ALLOW_INSECURE; unset SVC_TRUSTED_ALLOW_INSECURE to require the secret',
        },
      ],
    ],
    [{ SVC_AUTH_PROVIDER: 'none', SVC_TRUSTED_ALLOW_INSECURE: 'true', SVC_TRUSTED_AUTH_SECRET: 's' }, []],
    [{}, [secretRequired], 'trusted'],
    [{ SVC_AUTH_PROVIDER: 'proxy' }, []],
    [{ SVC_AUTH_PROVIDER: 'proxy', SVC_EDGE_ACCESS_TEAM_DOMAIN: 'team.example.com', SVC_EDGE_ACCESS_AUD: 'a' }, []],
    [
      { SVC_AUTH_PROVIDER: 'proxy', SVC_EDGE_ACCESS_TEAM_DOMAIN: 'team.example.com' },
      [{ name: 'SVC_EDGE_ACCESS_AUD', sentence: oneOfTwo }],
    ],
    [
      { SVC_AUTH_PROVIDER: 'proxy', SVC_EDGE_ACCESS_AUD: 'a' },
      [{ name: 'SVC_EDGE_ACCESS_TEAM_DOMAIN', sentence: oneOfTwo }],
    ],
  ])('%j has the problems %j', (env, problems, provider) => {
    expect(findAuthProblems(env, provider)).toEqual(problems)
  })

  it('report an invalid setting on its own', () => {
    expect(findAuthProblems({ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_USER_HEADER: 'a b' })).toEqual([])
  })
})

describe('each authentication setting', () => {
  it.each<[string, string, string]>([
    ['SVC_AUTH_PROVIDER', 'oauth', 'must be one of none, idp, proxy, trusted'],
    ['SVC_IDP_PUBLISHABLE_KEY', 'sk_live_x', 'must be a publishable key'],
    ['IDP_PUBLISHABLE_KEY', 'sk_live_x', 'must be a publishable key'],
    ['IDP_OAUTH_ISSUER', 'ftp://idp', 'must be an absolute URL with https or http'],
    ['IDP_API_URL', 'a b', 'must be an absolute URL with https or http'],
    ['SVC_EDGE_ACCESS_TEAM_DOMAIN', 'https://', 'must be an absolute URL with https or http'],
    ['SVC_PROXY_AUTH_SECRET_PREVIOUS', 'old', 'must be set if its _PREVIOUS variable is set'],
    ['SVC_TRUSTED_AUTH_SECRET_PREVIOUS', 'old', 'must be set if its _PREVIOUS variable is set'],
    ['SVC_PROXY_AUTH_HEADER', 'X Forwarded', 'must be the name of a header'],
    ['SVC_PROXY_SHARED_SECRET_HEADER', 'a:b', 'must be the name of a header'],
    ['SVC_TRUSTED_EMAIL_HEADER', 'é', 'must be the name of a header'],
    ['SVC_TRUSTED_CUSTOM_HEADERS', 'team', 'must be field:Header-Name pairs'],
    ['SVC_TRUSTED_CUSTOM_HEADERS', 'team:X-Team:b', 'must be field:Header-Name pairs'],
    ['SVC_TRUSTED_CUSTOM_HEADERS', '1:X-Team', 'must be field:Header-Name pairs'],
    ['SVC_TRUSTED_CUSTOM_HEADERS', 'team:X-A,team:X-B', 'must name each field once'],
  ])('%s rejects %s with a message', (name, value, sentence) => {
    const problems = findSettingProblems(authSettings, { [name]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]?.sentence).toContain(sentence)
  })

  it('has the default of the configuration reference', () => {
    const defaults = parseSettings(authSettings, {})
    expect(defaults).toMatchObject({
      SVC_AUTH_PROVIDER: undefined,
      SVC_IDP_PUBLIC_READ: undefined,
      SVC_PROXY_SHARED_SECRET_HEADER: 'x-svc-proxy-secret',
      SVC_PROXY_AUTH_HEADER: 'x-forwarded-user',
      SVC_TRUSTED_ALLOW_INSECURE: false,
      SVC_TRUSTED_SHARED_SECRET_HEADER: 'x-svc-proxy-secret',
      SVC_TRUSTED_USER_HEADER: 'x-forwarded-user',
      SVC_TRUSTED_EMAIL_HEADER: 'x-forwarded-email',
      SVC_TRUSTED_NAME_HEADER: 'x-forwarded-preferred-username',
      SVC_TRUSTED_AVATAR_HEADER: 'x-forwarded-avatar',
      SVC_TRUSTED_GROUPS_HEADER: 'x-forwarded-groups',
      SVC_TRUSTED_ROLE_HEADER: 'x-forwarded-role',
      SVC_TRUSTED_CUSTOM_HEADERS: [],
      SVC_TRUSTED_ALLOWED_GROUPS: [],
    })
  })

  it('parses a team domain without a scheme as https, and pairs with surrounding spaces', () => {
    const { SVC_EDGE_ACCESS_TEAM_DOMAIN, SVC_TRUSTED_CUSTOM_HEADERS } = parseSettings(authSettings, {
      SVC_EDGE_ACCESS_TEAM_DOMAIN: 'team.example.com',
      SVC_TRUSTED_CUSTOM_HEADERS: ' team : X-Team , cost-centre:X-Cost,',
    })
    expect(SVC_EDGE_ACCESS_TEAM_DOMAIN?.href).toBe('https://team.example.com/')
    expect(SVC_TRUSTED_CUSTOM_HEADERS).toEqual([
      { field: 'team', header: 'x-team' },
      { field: 'cost-centre', header: 'x-cost' },
    ])
  })
})
