import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { emailChannel } from '../../channels/email.ts'
import { createMemoryStores } from '../../stores/collection-stores.ts'
import { buildChannelEntry } from './save-channel.ts'

const env = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator' }

describe('a saved mail server', () => {
  const save = async (providerUrl: string, answer = '93.184.215.14') => {
    await using net = openNet({ env, resolve: async () => [answer] })
    const store = createMemoryStores().policy
    return await buildChannelEntry({ env, net, store }, emailChannel, { settings: { providerUrl } })
  }

  it('is stored encrypted with its password', async () => {
    const entry = await save('smtp://user:secret-password@mail.example:587')
    expect(Object.keys(entry.sealed)).toEqual(['HEALTH_ALERT_EMAIL_PROVIDER_URL'])
    expect(JSON.stringify(entry)).not.toContain('secret-password')
  })

  it.each([
    ['smtp://user:secret-password@10.0.0.1:587', undefined],
    ['smtps://user:secret-password@localhost', undefined],
    ['smtp://user:secret-password@mail.example:587', '169.254.169.254'],
    ['smtp://user:secret-password@mail.example:6379', undefined],
  ])('is rejected at %s, without its password in the message', async (url, answer) => {
    const refused: unknown = await save(url, answer).catch((error: unknown) => error)
    expect(refused).toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/^settings\.providerUrl must be a public address/),
    })
    expect(JSON.stringify(refused)).not.toContain('secret-password')
  })
})
