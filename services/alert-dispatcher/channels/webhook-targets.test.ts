import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import type { WebhookTarget } from '../policy.ts'
import { matrixRig, rawRig } from './testing/webhook-targets.ts'
import { messageFor, sendOnce } from './testing/send-once.ts'
import { readHeaders, readTargetList } from './webhook-target-list.ts'
import { webhookTargets } from './webhook-targets.ts'

const listOf = (...entries: readonly unknown[]) => JSON.stringify(entries)
const good = { name: 'team', urlEnv: 'TEAM_URL' }

describe('the list of targets', () => {
  it('is read with the defaults of each field', () => {
    expect(readTargetList(listOf(good))).toEqual({
      targets: [{ ...good, enabled: true, format: 'auto', minSeverity: null }],
      problems: [],
    })
  })

  it.each([
    ['{"name":', 'must be a JSON array'],
    ['{}', 'must be a JSON array'],
    ['"x"', 'must be a JSON array'],
    [listOf(1), 'entry 1 cannot be meant: it is no object'],
    [listOf({ name: 'team' }), 'entry 1 cannot be meant: its urlEnv is wrong'],
    [listOf({ ...good, urlEnv: 'https://hooks.example/secret' }), 'entry 1 cannot be meant: its urlEnv is wrong'],
    [
      listOf({ ...good, url: 'https://hooks.example/secret' }),
      'entry 1 cannot be meant: it has a field that targets do not have',
    ],
    [listOf({ ...good, format: 'xml' }), 'entry 1 cannot be meant: its format is wrong'],
    [
      listOf({ ...good, templates: { title: 'x'.repeat(201) } }),
      'entry 1 cannot be meant: its templates.title is wrong',
    ],
  ])('%s has none, and says why without quoting it', (text, problem) => {
    expect(readTargetList(text)).toEqual({ targets: [], problems: [problem] })
  })

  it('ignores a floor that is none', () => {
    const { targets, problems } = readTargetList(listOf({ ...good, minSeverity: 'info' }))
    expect([targets[0]?.minSeverity, problems]).toEqual([null, []])
  })

  it('leaves out bad entries and keeps the others', () => {
    const { targets, problems } = readTargetList(listOf({ name: '' }, good, good))
    expect(targets).toHaveLength(1)
    expect(problems).toEqual([
      'entry 1 cannot be meant: its name is wrong',
      'entry 3 has the name of an entry before it',
    ])
  })

  it('has 32', () => {
    const { targets, problems } = readTargetList(
      listOf(...Array.from({ length: 33 }, (_, index) => ({ ...good, name: `t${index}` }))),
    )
    expect([targets.length, problems]).toEqual([32, ['entry 33 comes after 32 others']])
  })
})

describe('further webhooks', () => {
  const env = {
    HEALTH_ALERT_WEBHOOK_TARGETS: listOf(good, { ...good, name: 'other one' }),
    TEAM_URL: 'https://x.example/',
  }
  const settled = (more: Partial<WebhookTarget> = {}): WebhookTarget => ({
    ...good,
    enabled: true,
    format: 'raw',
    minSeverity: null,
    ...more,
  })
  const targets = (policy: readonly WebhookTarget[] = [], more = {}) =>
    webhookTargets.targets({ ...env, ...more }, { webhookTargets: policy, subscriptions: [], chatApplications: [] })

  it('are those of files and those of the variable, the file before the variable', () => {
    const found = targets([settled({ minSeverity: 'critical' }), settled({ name: 'filed' })])
    expect(found.map(({ name, minSeverity }) => [name, minSeverity])).toEqual([
      ['team', 'critical'],
      ['filed', null],
      ['other one', null],
    ])
  })

  it('keep those of files where the variable cannot be meant', () => {
    expect(targets([settled({ name: 'filed' })], { HEALTH_ALERT_WEBHOOK_TARGETS: '[' })).toHaveLength(1)
  })

  it('are known to queues by names that queues take', () => {
    for (const { id } of targets()) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  it('are off one by one', () => {
    expect(targets([settled({ enabled: false })]).map(({ isEnabled }) => isEnabled)).toEqual([false, true])
  })

  it('carry the secret headers that a variable holds', async () => {
    for (const rig of [rawRig, matrixRig]) {
      await using server = await rig.start()
      expect(await sendOnce({ channel: webhookTargets, rig, server })).toEqual({ kind: 'ok' })
      expect(await sendOnce({ channel: webhookTargets, rig, server, env: { TEAM_HEADERS: '{}' } })).not.toEqual({
        kind: 'ok',
      })
    }
  })

  it('send the same message under the same key, and another under another', async () => {
    await using server = await rawRig.start()
    const send = (episode: string) =>
      sendOnce({ channel: webhookTargets, rig: rawRig, server, message: messageFor({ episode }) })
    await send('one')
    await send('one')
    await send('two')
    const keys = server.taken.map(({ headers }) => headers['x-idempotency-key'])
    expect([keys[0] === keys[1], keys[0] === keys[2]]).toEqual([true, false])
  })

  it('are told once although the answer is a whole page', async () => {
    await using server = await rawRig.start()
    server.next({ status: 200, body: 'x'.repeat(70_000) })
    expect(await sendOnce({ channel: webhookTargets, rig: rawRig, server })).toEqual({ kind: 'ok' })
  })

  it.each([
    [{ TEAM_URL: 'no address' }, 'its address is no URL with http or https'],
    [{ TEAM_URL: 'file:///etc/passwd' }, 'its address is no URL with http or https'],
    [{ TEAM_URL: 'https://me:secret@x.example/' }, 'its address has a user or a password in it, which are never sent'],
    [{ TEAM_HEADERS: 'Bearer secret' }, 'its headers are no JSON object of Authorization and X- headers'],
  ])('are broken with %j', async (more, reason) => {
    await using net = openNet({ env: {} })
    const given = { TEAM_URL: 'https://x.example/', TEAM_HEADERS: '{}', ...more }
    const [target] = targets([settled({ headersEnv: 'TEAM_HEADERS' })], given)
    expect(await target?.send(messageFor(), net.trusted, net.mail.trusted)).toEqual({ kind: 'config', reason })
  })
})

describe('secret headers', () => {
  it.each([
    ['{"Authorization":"Bearer x","X-Team":"y"}', { Authorization: 'Bearer x', 'X-Team': 'y' }],
    ['{}', {}],
    ['{"Host":"x"}', undefined],
    ['{"Content-Type":"x"}', undefined],
    ['{"X-A":"b\\r\\nX-C: d"}', undefined],
    ['{"X-A":"ü"}', undefined],
    ['{"X-A":1}', undefined],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`X-${index}`, 'x']))), undefined],
    [JSON.stringify({ 'X-A': 'x'.repeat(1_025) }), undefined],
    ['Authorization: x', undefined],
  ])('of %s are %j', (text, expected) => {
    expect(readHeaders(text)).toEqual(expected)
  })
})
