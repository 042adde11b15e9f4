import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import type { WebhookTarget } from '../policy.ts'
import { matrixRig, rawRig } from './testing/webhook-targets.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import { parseWebhookHeaders, parseTargetList } from './webhook-target-list.ts'
import { webhookTargetsChannel } from './webhook-targets.ts'

const listOf = (...entries: readonly unknown[]) => JSON.stringify(entries)
const good = { name: 'team', urlEnv: 'TEAM_URL' }

describe('the target list', () => {
  it('is parsed with defaults for each field', () => {
    expect(parseTargetList(listOf(good))).toEqual({
      targets: [{ ...good, enabled: true, format: 'auto', minSeverity: null }],
      problems: [],
    })
  })

  it.each([
    ['{"name":', 'must be a JSON array'],
    ['{}', 'must be a JSON array'],
    ['"x"', 'must be a JSON array'],
    [listOf(1), 'entry 1 is not an object'],
    [listOf({ name: 'team' }), 'entry 1 has an invalid value of urlEnv'],
    [listOf({ ...good, urlEnv: 'https://hooks.example/secret' }), 'entry 1 has an invalid value of urlEnv'],
    [listOf({ ...good, url: 'https://hooks.example/secret' }), 'entry 1 has an unknown field'],
    [listOf({ ...good, format: 'xml' }), 'entry 1 has an invalid value of format'],
    [listOf({ ...good, templates: { title: 'x'.repeat(201) } }), 'entry 1 has an invalid value of templates.title'],
  ])('rejects %s without quoting it', (text, problem) => {
    expect(parseTargetList(text)).toEqual({ targets: [], problems: [problem] })
  })

  it('ignores an invalid minimum severity', () => {
    const { targets, problems } = parseTargetList(listOf({ ...good, minSeverity: 'info' }))
    expect([targets[0]?.minSeverity, problems]).toEqual([null, []])
  })

  it('skips invalid entries and keeps the others', () => {
    const { targets, problems } = parseTargetList(listOf({ name: '' }, good, good))
    expect(targets).toHaveLength(1)
    expect(problems).toEqual(['entry 1 has an invalid value of name', 'entry 3 has the same name as an earlier entry'])
  })

  it('has at most 32 entries', () => {
    const { targets, problems } = parseTargetList(
      listOf(...Array.from({ length: 33 }, (_, index) => ({ ...good, name: `t${index}` }))),
    )
    expect([targets.length, problems]).toEqual([32, ['entry 33 exceeds the maximum of 32 targets']])
  })
})

describe('additional webhooks', () => {
  const env = {
    HEALTH_ALERT_WEBHOOK_TARGETS: listOf(good, { ...good, name: 'other one' }),
    TEAM_URL: 'https://x.example/',
  }
  const configured = (more: Partial<WebhookTarget> = {}): WebhookTarget => ({
    ...good,
    enabled: true,
    format: 'raw',
    minSeverity: null,
    ...more,
  })
  const targets = (policy: readonly WebhookTarget[] = [], more = {}) =>
    webhookTargetsChannel.targets(
      { ...env, ...more },
      { webhookTargets: policy, subscriptions: [], chatApplications: [] },
    )

  it('come from files and the variable, and files take precedence', () => {
    const found = targets([configured({ minSeverity: 'critical' }), configured({ name: 'filed' })])
    expect(found.map(({ name, minSeverity }) => [name, minSeverity])).toEqual([
      ['team', 'critical'],
      ['filed', null],
      ['other one', null],
    ])
  })

  it('come from files if the variable is invalid', () => {
    expect(targets([configured({ name: 'filed' })], { HEALTH_ALERT_WEBHOOK_TARGETS: '[' })).toHaveLength(1)
  })

  it('have ids that are valid in queue names', () => {
    for (const { id } of targets()) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  it('can be disabled individually', () => {
    expect(targets([configured({ enabled: false })]).map(({ isEnabled }) => isEnabled)).toEqual([false, true])
  })

  it('send secret headers from a variable', async () => {
    for (const rig of [rawRig, matrixRig]) {
      await using server = await rig.start()
      expect(await sendOnce({ channel: webhookTargetsChannel, rig, server })).toEqual({ kind: 'ok' })
      expect(await sendOnce({ channel: webhookTargetsChannel, rig, server, env: { TEAM_HEADERS: '{}' } })).not.toEqual({
        kind: 'ok',
      })
    }
  })

  it('use one idempotency key per message', async () => {
    await using server = await rawRig.start()
    const send = (episode: string) =>
      sendOnce({ channel: webhookTargetsChannel, rig: rawRig, server, message: createMessage({ episode }) })
    await send('one')
    await send('one')
    await send('two')
    const keys = server.taken.map(({ headers }) => headers['x-idempotency-key'])
    expect([keys[0] === keys[1], keys[0] === keys[2]]).toEqual([true, false])
  })

  it('send once even if the response is a whole page', async () => {
    await using server = await rawRig.start()
    server.next({ status: 200, body: 'x'.repeat(70_000) })
    expect(await sendOnce({ channel: webhookTargetsChannel, rig: rawRig, server })).toEqual({ kind: 'ok' })
  })

  it.each([
    [{ TEAM_URL: 'no address' }, 'its URL is not an http or https URL'],
    [{ TEAM_URL: 'file:///etc/passwd' }, 'its URL is not an http or https URL'],
    [{ TEAM_URL: 'https://me:secret@x.example/' }, 'its URL contains a user or password, which are never sent'],
    [{ TEAM_HEADERS: 'Bearer secret' }, 'its headers are not a JSON object of Authorization and X- headers'],
  ])('are misconfigured with %j', async (more, reason) => {
    await using net = openNet({ env: {} })
    const values = { TEAM_URL: 'https://x.example/', TEAM_HEADERS: '{}', ...more }
    const [target] = targets([configured({ headersEnv: 'TEAM_HEADERS' })], values)
    expect(await target?.send(createMessage(), net.trusted, net.mail.trusted)).toEqual({ kind: 'config', reason })
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
  ])('parsed from %s are %j', (text, expected) => {
    expect(parseWebhookHeaders(text)).toEqual(expected)
  })
})
