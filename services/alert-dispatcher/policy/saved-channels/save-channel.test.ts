import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChannelSettingsUpdate } from '#proto/alert-policy.ts'
import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { telegramChannel } from '../../channels/telegram.ts'
import { channels } from '../../channels/index.ts'
import { ntfyChannel } from '../../channels/ntfy.ts'
import { resolveChannelVariables } from '../../channels/targets.ts'
import { buildDatabaseLayer } from '../open-policy.ts'
import { createEmptyLayer } from '../layers/layer.ts'
import { resolvePolicy } from '../layers/resolve.ts'
import { createMemoryStores } from '../../stores/collection-stores.ts'
import { describeFields } from './channel-fields.ts'
import { buildChannelEntry } from './save-channel.ts'

const token = '123456:a-secret-bot-token'
const key = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator' }

describe('a saved channel', () => {
  let opened: AsyncDisposableStack
  let store: ReturnType<typeof createMemoryStores>['policy']
  beforeEach(() => {
    opened = new AsyncDisposableStack()
    store = createMemoryStores().policy
  })
  afterEach(() => opened.disposeAsync())

  const save = async (value: ChannelSettingsUpdate, channel = telegramChannel, env: Environment = key) => {
    const net = opened.use(openNet({ env, resolve: async () => ['93.184.215.14'] }))
    await store.put('channel', channel.id, await buildChannelEntry({ env, net, store }, channel, value), 0)
  }
  const policyWith = async (env: Environment = key) => {
    const { layer, unread } = buildDatabaseLayer(await store.all(), readSealKey(env))
    const file = {
      ...createEmptyLayer('file'),
      channels: { 'chat-a': { variables: { HEALTH_ALERT_CHAT_A_CHAT_ID: '5' } } },
    }
    return { ...resolvePolicy([layer, file], env, () => [null]), unread }
  }
  const variables = async (env: Environment = key) => (await policyWith(env)).channels['chat-a']?.variables

  it('stores secrets encrypted and other values as plain text', async () => {
    await save({ enabled: true, settings: { botToken: token, chatId: '-7' } })
    const [entry] = await store.all()
    expect(JSON.stringify(entry)).not.toContain('a-token')
    expect(entry?.body).toMatchObject({ enabled: true, variables: { HEALTH_ALERT_CHAT_A_CHAT_ID: '-7' } })
    expect(await variables()).toEqual({ HEALTH_ALERT_CHAT_A_BOT_TOKEN: token, HEALTH_ALERT_CHAT_A_CHAT_ID: '-7' })
  })

  it('keeps omitted settings, replaces others and removes null', async () => {
    await save({ enabled: false, settings: { botToken: token, chatId: '-7' } })
    await save({ minSeverity: 'critical', settings: { chatId: '-8' } })
    expect(await variables()).toEqual({ HEALTH_ALERT_CHAT_A_BOT_TOKEN: token, HEALTH_ALERT_CHAT_A_CHAT_ID: '-8' })
    expect((await store.all())[0]?.body).toMatchObject({ minSeverity: 'critical' })
    expect((await store.all())[0]?.body).not.toHaveProperty('enabled')
    await save({ settings: { botToken: null } })
    expect(await variables()).toEqual({ HEALTH_ALERT_CHAT_A_CHAT_ID: '-8' })
  })

  it('returns the source of each setting, and only the end of secrets', async () => {
    await save({ settings: { botToken: token } })
    const { channels: configured } = await policyWith()
    const described = describeFields(telegramChannel, configured['chat-a'], {})
    expect(described).toEqual([
      {
        field: 'botToken',
        variable: 'HEALTH_ALERT_CHAT_A_BOT_TOKEN',
        isSecret: true,
        value: '••••oken',
        source: 'database',
      },
      { field: 'chatId', variable: 'HEALTH_ALERT_CHAT_A_CHAT_ID', isSecret: false, value: '5', source: 'file' },
    ])
  })

  it('hides short secrets, and returns variables and defaults', () => {
    const short = { HEALTH_ALERT_PUSH_A_TOKEN: 'tk_short' }
    expect(describeFields(ntfyChannel, undefined, short)).toMatchObject([
      { field: 'url', value: null, source: 'default' },
      { field: 'token', value: '••••', source: 'environment' },
    ])
  })

  it('rejects secrets without an encryption key', async () => {
    const refused = save({ settings: { botToken: token } }, telegramChannel, {})
    await expect(refused).rejects.toMatchObject({
      code: 'not-implemented',
      message: expect.stringContaining('SVC_USER'),
    })
    await save({ settings: { chatId: '-7' } }, telegramChannel, {})
    expect(await variables({})).toEqual({ HEALTH_ALERT_CHAT_A_CHAT_ID: '-7' })
  })

  it('is not used if the current key cannot decrypt a secret', async () => {
    await save({ settings: { botToken: token, chatId: '-7' } })
    const { unread, channels: configured } = await policyWith({
      SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'another key of theirs',
    })
    expect(unread).toEqual(['channel chat-a HEALTH_ALERT_CHAT_A_BOT_TOKEN'])
    expect(configured['chat-a']).toMatchObject({
      variables: {},
      unreadable: ['HEALTH_ALERT_CHAT_A_BOT_TOKEN'],
      fromFiles: { HEALTH_ALERT_CHAT_A_CHAT_ID: '5' },
    })
  })

  it.each([
    [telegramChannel, { botTokn: token }, 'invalid', 'settings.botTokn is unknown; allowed: botToken, chatId'],
    [telegramChannel, { enabled: 'no' }, 'invalid', 'settings.enabled is unknown'],
    [telegramChannel, { botToken: 'secret nonsense' }, 'invalid', 'settings.botToken must be the token of a bot'],
    [ntfyChannel, { url: 'https://ntfy.sh/' }, 'invalid', 'settings.url must end with a topic name'],
    [ntfyChannel, { url: 'http://169.254.169.254/secret' }, 'invalid', 'settings.url must be a public address'],
    [ntfyChannel, { url: 'http://localhost:3000/secret' }, 'invalid', 'settings.url must be a public address'],
  ])('%# is rejected with the name of the field', async (channel, settings, code, says) => {
    const refused = save({ settings }, channel)
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
    await expect(refused).rejects.not.toThrow(/secret/)
    expect(await store.all()).toEqual([])
  })

  const [here, samePlace, there] = ['https://a.example/one', 'https://a.example/two', 'https://b.example/one']
  const secret = 'tk_0123456789'
  const operator = { ...key, HEALTH_ALERT_PUSH_A_URL: here, HEALTH_ALERT_PUSH_A_TOKEN: secret }

  it.each<[string, Environment, ChannelSettingsUpdate['settings'][], ChannelSettingsUpdate['settings'], string | null]>(
    [
      ['a saved token, another host', key, [{ url: here, token: secret }], { url: there }, 'refused'],
      [
        'a saved token, another port',
        key,
        [{ url: here, token: secret }],
        { url: 'https://a.example:444/one' },
        'refused',
      ],
      [
        'a saved token, another scheme',
        key,
        [{ url: here, token: secret }],
        { url: 'http://a.example/one' },
        'refused',
      ],
      ['a saved token, another path', key, [{ url: here, token: secret }], { url: samePlace }, secret],
      ['a saved token, set again', key, [{ url: here, token: secret }], { url: there, token: 'tk_new' }, 'tk_new'],
      ['a saved token, given up', key, [{ url: here, token: secret }], { url: there, token: null }, null],
      ['a saved token, the switch alone', key, [{ url: here, token: secret }], undefined, secret],
      ['a saved token without an address', key, [{ token: secret }], { url: there }, 'refused'],
      ['a saved token for the address of a variable', operator, [{ token: 'tk_own' }], { url: there }, 'refused'],
      ['the same, on the same server', operator, [{ token: 'tk_own' }], { url: samePlace }, 'tk_own'],
      ['back to the address of a variable', operator, [{ url: there, token: 'tk_own' }], { url: null }, 'refused'],
      ['the token of a variable, another host', operator, [], { url: there }, 'refused'],
      ['the token of a variable, another path', operator, [], { url: samePlace }, 'refused'],
      ['the token of a variable, given up', operator, [], { url: there, token: null }, null],
      ['the token of a variable, replaced', operator, [], { url: there, token: 'tk_own' }, 'tk_own'],
      ['the token of a variable, its address back', operator, [{ url: there, token: null }], { url: null }, secret],
    ],
  )('%s', async (_case, env, before, settings, expected) => {
    for (const each of before) await save({ settings: each }, ntfyChannel, env)
    const deps = save({ settings }, ntfyChannel, env)
    if (expected === 'refused') {
      const failure = { code: 'invalid', details: { parameter: 'settings.token' } }
      await expect(deps).rejects.toMatchObject(failure)
      await expect(deps).rejects.not.toThrow(new RegExp(secret))
      return
    }
    await deps
    const { channels: configured } = await policyWith(env)
    expect(resolveChannelVariables(ntfyChannel, env, configured['push-a']).HEALTH_ALERT_PUSH_A_TOKEN || null).toBe(
      expected,
    )
  })

  it('keeps a secret that cannot be decrypted with its address', async () => {
    await save({ settings: { url: here, token: secret } }, ntfyChannel)
    const rotated = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'another key of theirs' }
    for (const url of [there, here, null])
      await expect(save({ settings: { url } }, ntfyChannel, rotated)).rejects.toMatchObject({
        code: 'invalid',
        details: { parameter: 'settings.token' },
      })
    await save({ minSeverity: 'critical' }, ntfyChannel, rotated)
    const both = { ...rotated, SVC_USER_CONNECTIONS_ENCRYPTION_KEY_PREVIOUS: key.SVC_USER_CONNECTIONS_ENCRYPTION_KEY }
    const { channels: configured } = await policyWith(both)
    expect(configured['push-a']?.variables).toEqual({
      HEALTH_ALERT_PUSH_A_URL: here,
      HEALTH_ALERT_PUSH_A_TOKEN: secret,
    })
    await save({ settings: { url: there, token: null } }, ntfyChannel, rotated)
    expect((await policyWith(both)).channels['push-a']?.variables).toEqual({ HEALTH_ALERT_PUSH_A_URL: there })
  })

  it('has a field for each of its settings', () => {
    const without = channels.filter((channel) => describeFields(channel, undefined, {}).length === 0)
    expect(without.map(({ id }) => id)).toEqual(['webhook-targets', 'chat-application'])
  })
})
