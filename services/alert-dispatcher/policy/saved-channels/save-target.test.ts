import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WebhookTargetInput } from '#proto/webhook-targets.ts'
import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { listEnabledTargets } from '../../channels/targets.ts'
import { createMessage } from '../../channels/testing/send-once.ts'
import { webhookTargetsChannel } from '../../channels/webhook-targets.ts'
import { buildDatabaseLayer } from '../open-policy.ts'
import { createEmptyLayer } from '../layers/layer.ts'
import { resolvePolicy } from '../layers/resolve.ts'
import { createMemoryStores } from '../../stores/collection-stores.ts'
import { describeTarget } from './channel-fields.ts'
import { prepareTargetEntry } from '../alert-config.ts'

const key = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator' }
const url = 'https://hooks.example/services/secret-of-the-hook'
const team: WebhookTargetInput = { id: 'cwt_1', name: 'team', enabled: true, format: 'raw', minSeverity: null }

describe('a saved webhook', () => {
  let opened: AsyncDisposableStack
  let store: ReturnType<typeof createMemoryStores>['policy']
  beforeEach(() => {
    opened = new AsyncDisposableStack()
    store = createMemoryStores().policy
  })
  afterEach(() => opened.disposeAsync())

  const netOf = (env: Environment) => opened.use(openNet({ env, resolve: async () => ['93.184.215.14'] }))
  const save = async (value: WebhookTargetInput, env: Environment = key) => {
    await store.put('webhook-target', value.id, await prepareTargetEntry({ env, net: netOf(env), store }, value), 0)
  }
  const policyWith = async (env: Environment = key) => {
    const { layer, unread } = buildDatabaseLayer(await store.all(), readSealKey(env))
    const filed = { name: 'team', urlEnv: 'TEAM_URL', enabled: true, format: 'auto', minSeverity: null } as const
    const file = { ...createEmptyLayer('file'), webhookTargets: [filed] }
    return { policy: resolvePolicy([layer, file], env, () => [null]), unread }
  }

  it('overrides a file entry of the same name and stores its secrets encrypted', async () => {
    await save({ ...team, url, headers: { Authorization: 'Bearer secret-token' } })
    expect(JSON.stringify(await store.all())).not.toMatch(/secret-of-the-hook|secret-token/)
    const { policy } = await policyWith()
    expect(policy.webhookTargets).toHaveLength(1)
    expect(policy.webhookTargets[0]?.saved).toEqual({
      id: 'cwt_1',
      url,
      headers: '{"Authorization":"Bearer secret-token"}',
    })
  })

  it('keeps omitted secrets and removes headers that are null', async () => {
    await save({ ...team, url, headers: { 'X-A': 'b' } })
    await save({ ...team, enabled: false })
    expect((await policyWith()).policy.webhookTargets[0]).toMatchObject({
      enabled: false,
      saved: { url, headers: '{"X-A":"b"}' },
    })
    await save({ ...team, headers: null })
    expect((await policyWith()).policy.webhookTargets[0]?.saved).toMatchObject({ url, headers: '{}' })
  })

  const headers = { Authorization: 'Bearer secret-token' }
  const elsewhere = 'https://other.example/services/x'

  it.each<[string, Partial<WebhookTargetInput>, Record<string, string> | 'refused']>([
    ['to another host', { url: elsewhere }, 'refused'],
    ['to another port', { url: 'https://hooks.example:8443/x' }, 'refused'],
    ['to another path', { url: 'https://hooks.example/x' }, headers],
    ['to another host, set again', { url: elsewhere, headers: { 'X-A': 'b' } }, { 'X-A': 'b' }],
    ['to another host, given up', { url: elsewhere, headers: null }, {}],
  ])('moves its headers %s: %j', async (_case, change, expected) => {
    await save({ ...team, url, headers })
    const deps = save({ ...team, ...change })
    if (expected === 'refused') {
      await expect(deps).rejects.toMatchObject({ code: 'invalid', details: { parameter: 'headers' } })
      return
    }
    await deps
    const [target] = (await policyWith()).policy.webhookTargets
    expect(JSON.parse(target?.saved?.headers ?? '')).toEqual(expected)
  })

  it('keeps headers that cannot be decrypted with their address', async () => {
    await save({ ...team, url, headers })
    const rotated = { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'another key of theirs' }
    await expect(save({ ...team, url: elsewhere }, rotated)).rejects.toMatchObject({
      details: { parameter: 'headers' },
    })
    const both = { ...rotated, SVC_USER_CONNECTIONS_ENCRYPTION_KEY_PREVIOUS: key.SVC_USER_CONNECTIONS_ENCRYPTION_KEY }
    expect((await policyWith(both)).policy.webhookTargets[0]?.saved?.url).toBe(url)
  })

  it('is returned without its secrets', async () => {
    await save({ ...team, url, headers: { Authorization: 'Bearer secret-token' } })
    const [target] = (await policyWith()).policy.webhookTargets
    expect(target && describeTarget(target, {})).toEqual({
      ...team,
      url: '••••hook',
      headers: ['Authorization'],
      source: 'database',
    })
  })

  it('is checked by the guarded network on each use', async () => {
    await save({ ...team, url: 'https://hooks.example/x' })
    const { policy } = await policyWith()
    const [target] = listEnabledTargets({ channels: [webhookTargetsChannel], env: {}, policy })
    const inside = opened.use(openNet({ env: {}, resolve: async () => ['10.0.0.1'] }))
    expect(await target?.send(createMessage(), inside)).toEqual({
      kind: 'config',
      reason: 'its address is not allowed',
    })
  })

  it('is left out and reported if it cannot be decrypted', async () => {
    await save({ ...team, url })
    const { policy, unread } = await policyWith({ SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'another key of theirs' })
    expect(unread).toEqual(['webhook-target cwt_1'])
    expect(policy.webhookTargets.map(({ saved }) => saved)).toEqual([undefined])
  })

  it.each([
    [{ ...team }, key, 'invalid', 'url is required'],
    [{ ...team, url }, {}, 'not-implemented', 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY'],
    [{ ...team, url: 'http://hooks.example/secret' }, key, 'invalid', 'url must be an absolute URL with https'],
    [{ ...team, url: 'https://10.0.0.1/secret' }, key, 'invalid', 'url must be a public address'],
    [{ ...team, url: 'https://user:secret@hooks.example/' }, key, 'invalid', 'url must be a public address'],
    [{ ...team, url, headers: { Host: 'secret' } }, key, 'invalid', 'headers must be'],
    [{ ...team, url, headers: { 'X-A': 'secret\r\nX-B: c' } }, key, 'invalid', 'headers must be'],
    [
      { ...team, url, templates: { title: '{{secret}}' } },
      key,
      'invalid',
      'templates.title has an unknown placeholder',
    ],
  ])('%# is rejected', async (value, env, code, says) => {
    const refused = save(value, env)
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
    await expect(refused).rejects.not.toThrow(/secret(?!s of)/)
  })

  it('is one of at most 32', async () => {
    const numbered = (index: number) => ({ ...team, id: `cwt_${index}`, name: `team ${index}`, url })
    for (let index = 0; index < 32; index += 1) await save(numbered(index))
    await save({ ...numbered(3), enabled: false })
    await expect(save(numbered(32))).rejects.toMatchObject({ code: 'conflict' })
  })

  it('has a unique name', async () => {
    await save({ ...team, url })
    await expect(save({ ...team, id: 'cwt_2', url })).rejects.toMatchObject({ code: 'conflict' })
  })
})
