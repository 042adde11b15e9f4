import { rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { startFakeProduct, createWebBuild } from '../testing/fake-product.ts'
import { findIgnoredSettings } from '../open-gateway.ts'

const build = {
  version: '1.0.0',
  gitSha: null,
  gitRef: null,
  builtAt: null,
  client: { CLIENT_TITLE_SHORT: 'Shop', CLIENT_LOGO: null },
}

describe('an ignored setting', () => {
  it.each(['SVC_RATE_LIMIT_API', 'SVC_RATE_LIMIT_AGENT', 'SVC_RATE_LIMIT_MCP', 'SVC_RATE_LIMIT_BROWSER_CONN'])(
    'includes the edge binding %s',
    (name) => {
      expect(findIgnoredSettings({ [name]: 'bound' }, undefined)).toEqual([
        { name, reason: expect.stringContaining('REDIS_URL or a state database') },
      ])
    },
  )

  it('includes build variables that differ from the build of the web', () => {
    const names = (env: Record<string, string>) => findIgnoredSettings(env, build).map(({ name }) => name)
    expect(names({ CLIENT_TITLE_SHORT: 'Shop' })).toEqual([])
    expect(names({ CLIENT_TITLE_SHORT: '', CLIENT_LOGO: ' ' })).toEqual([])
    expect(names({ CLIENT_TITLE_SHORT: 'Other', CLIENT_LOGO: '/own.svg' })).toEqual([
      'CLIENT_TITLE_SHORT',
      'CLIENT_LOGO',
    ])
  })

  it('is logged once, at start', async () => {
    await using product = await startFakeProduct({ env: { SVC_RATE_LIMIT_API: 'bound' } })
    await fetch(`${product.url}/api/health`)
    const lines = product.logged.filter((line) => line.includes('setting has no effect'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ variable: 'SVC_RATE_LIMIT_API' }])
  })
})

describe('cloud mode', () => {
  it.each([
    ['true', {}, 'the server runs without it'],
    [null, { SVC_CLOUD_MODE: 'cloud' }, 'the web UI does not show it'],
  ])('built as %s and run with %j logs a mismatch at start', async (built, env, reason) => {
    const webDirectory = await createWebBuild({ CLIENT_CLOUD_MODE: built })
    await using product = await startFakeProduct({ env, webDirectory })
    await rm(webDirectory, { recursive: true })
    const line = product.logged.find((each) => each.includes('cloud mode mismatch')) ?? ''
    expect(JSON.parse(line)).toMatchObject({ reason: expect.stringContaining(reason) })
  })

  it.each([
    ['true', { SVC_CLOUD_MODE: 'true' }],
    [null, {}],
  ])('built as %s and run with %j logs no mismatch', async (built, env) => {
    const webDirectory = await createWebBuild({ CLIENT_CLOUD_MODE: built })
    await using product = await startFakeProduct({ env, webDirectory })
    await rm(webDirectory, { recursive: true })
    expect(product.logged.filter((each) => each.includes('half set'))).toEqual([])
  })
})
