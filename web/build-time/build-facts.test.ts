import { describe, expect, it } from 'vitest'
import { createBuildInfo } from './build-facts.ts'

const noGit = () => null

describe('build facts', () => {
  it('derives the client form from the canonical server name', () => {
    const given = { SVC_AUTH_PROVIDER: 'proxy', SVC_EDITION: 'cloud', SVC_ANALYTICS_KEY: 'k', SVC_ANALYTICS_HOST: '/a' }
    expect(createBuildInfo('1.0.0', given, noGit).client).toMatchObject({
      CLIENT_AUTH_PROVIDER: 'proxy',
      CLIENT_EDITION: 'cloud',
      CLIENT_PRODUCT_ANALYTICS_KEY: 'k',
      CLIENT_PRODUCT_ANALYTICS_HOST: '/a',
    })
  })

  it.each([
    ['SVC_AUTH_PROVIDER', 'CLIENT_AUTH_PROVIDER', 'trusted'],
    ['SVC_IDP_PUBLISHABLE_KEY', 'CLIENT_IDP_PUBLISHABLE_KEY', 'pk_test_Y2xlcmsuZXhhbXBsZS5jb20k'],
    ['SVC_CLOUD_MODE', 'CLIENT_CLOUD_MODE', 'true'],
    ['SVC_FEATURE_CONVERSATION_DB', 'CLIENT_FEATURE_CONVERSATION_DB', 'true'],
    ['SVC_FEATURE_USER_CONNECTIONS_DB', 'CLIENT_FEATURE_USER_CONNECTIONS_DB', 'true'],
    ['SVC_EDITION', 'CLIENT_EDITION', 'cloud'],
  ] as const)('maps %s to %s', (canonical, client, value) => {
    expect(createBuildInfo('1.0.0', { [canonical]: value }, noGit).client[client]).toBe(value)
    expect(createBuildInfo('1.0.0', {}, noGit).client[client]).not.toBe(value)
  })

  it('prefers an explicit client variable', () => {
    const environment = { SVC_CLOUD_MODE: 'true', CLIENT_CLOUD_MODE: 'false' }
    expect(createBuildInfo('1.0.0', environment, noGit).client.CLIENT_CLOUD_MODE).toBe('false')
  })

  it('derives the cloud mode from the deployment mode', () => {
    expect(createBuildInfo('1.0.0', { SVC_DEPLOYMENT_MODE: 'Cloud' }, noGit).client.CLIENT_CLOUD_MODE).toBe('cloud')
  })

  it('queries git only for facts missing from the environment', () => {
    const git = (...words: string[]) => words.join(' ')
    const facts = createBuildInfo('1.0.0', { CLIENT_GIT_SHA: 'abc' }, git)
    expect(facts.gitSha).toBe('abc')
    expect(facts.gitRef).toBe('rev-parse --abbrev-ref HEAD')
  })

  it('returns null without git and environment', () => {
    expect(createBuildInfo('1.0.0', {}, noGit)).toMatchObject({ gitSha: null, gitRef: null, builtAt: null })
  })

  it('never inlines secrets', () => {
    const secrets = { SVC_API_KEY_SECRET: 'x', IDP_SECRET_KEY: 'x', COLUMNDB_PASSWORD: 'x', LLM_API_KEY: 'x' }
    expect(Object.values(createBuildInfo('1.0.0', secrets, noGit).client)).not.toContain('x')
  })
})
