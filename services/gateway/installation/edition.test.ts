import { describe, expect, it } from 'vitest'
import { parseSettings } from '#shared/config/setting.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { editionSettings, resolveEdition, findIgnoredEditionSettings } from './edition.ts'

const builtWith = (edition: string | null) => ({
  version: '1.0.0',
  gitSha: null,
  gitRef: null,
  builtAt: null,
  client: { CLIENT_EDITION: edition },
})

describe('the edition', () => {
  it.each([
    [{}, null, 'community', []],
    [{}, 'Cloud', 'cloud', []],
    [{ SVC_EDITION: 'own' }, 'cloud', 'own', []],
    [{ SVC_LICENSE_KEY: 'key' }, null, 'enterprise', []],
    [{ SVC_EDITION: 'enterprise', SVC_LICENSE_KEY: 'key' }, null, 'enterprise', []],
    [{ SVC_EDITION: 'enterprise' }, null, 'community', ['SVC_EDITION']],
    [{}, 'enterprise', 'community', ['SVC_EDITION']],
    [{ SVC_EDITION: 'cloud', SVC_LICENSE_KEY: 'key' }, null, 'cloud', ['SVC_LICENSE_KEY']],
  ])('with %j and a build of %j is %s', (env, built, edition, ignored) => {
    expect(resolveEdition(env, builtWith(built))).toBe(edition)
    expect(findIgnoredEditionSettings(env, builtWith(built)).map(({ name }) => name)).toEqual(ignored)
  })

  it.each(['two words', '-', 'x'.repeat(33), '<b>'])('rejects %j', (word) => {
    expect(() => parseSettings(editionSettings, { SVC_EDITION: word })).toThrow(
      'SVC_EDITION: must be a word of at most 32',
    )
  })

  it('is public, but the license key is not', async () => {
    await using product = await startFakeProduct({
      env: { SVC_EDITION: 'enterprise', SVC_LICENSE_KEY: 'the-licence-key' },
    })
    const body = await (await fetch(`${product.url}/api/version`)).text()
    expect(JSON.parse(body)).toMatchObject({ edition: 'enterprise' })
    expect(body + product.logged.join('')).not.toContain('the-licence-key')
  })
})
