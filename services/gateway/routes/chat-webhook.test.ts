import { describe, expect, it } from 'vitest'
import type { Silence } from '#proto/alert-history.ts'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ValidRequest } from '../testing/valid-requests.ts'
import { createClick, createSignedClick } from '../testing/channels.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const secret = 'signing secret of the application'
const subject = { episode: 'e-1', hostKey: 'logs', ruleId: 'disk-usage' }
const said: Silence = {
  kind: 'ack',
  ...subject,
  by: 'slack:T01/U07',
  note: '',
  atMs: 1,
  untilMs: null,
}

interface Command {
  wanted: object
  identity: Identity
}

const open = async (env: Record<string, string> = { CHATAPP_SIGNING_SECRET: secret }, refused?: ServiceError) => {
  const commands: Command[] = []
  const received: { url: string; body: unknown }[] = []
  const take = async (wanted: object, { identity }: { identity: Identity }): Promise<Silence> => {
    commands.push({ wanted, identity })
    if (refused) throw refused
    return said
  }
  const guarded =
    () =>
    async (url: string | URL, outgoing: { body?: unknown } = {}) => {
      received.push({ url: String(url), body: JSON.parse(String(outgoing.body)) })
      return new Response('ok')
    }
  const product = await startFakeProduct({ env, alerts: { silence: take, silenceInbound: take }, net: { guarded } })
  const send = async ({ url, raw, headers }: ValidRequest) => {
    const response = await fetch(product.url + url, { method: 'POST', body: raw ?? '', headers: headers ?? {} })
    return { status: response.status, text: await response.text() }
  }
  return { product, commands, received, send, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('a click in a chat', () => {
  it('acknowledges the episode for the user of the chat, audits it and updates the chat', async () => {
    await using rig = await open()
    expect(await rig.send(createSignedClick(createClick(subject), { secret }))).toMatchObject({ status: 200 })
    const identity = { kind: 'user', subject: 'slack:T01/U07', features: ['HEALTH'], profile: { name: 'grace' } }
    const wanted = { ...subject, kind: 'ack', minutes: null, note: 'in the chat, by grace' }
    expect(rig.commands).toMatchObject([{ wanted, identity }])
    expect(rig.received).toEqual([
      {
        url: 'https://hooks.slack.com/actions/T01/1/secret-of-the-answer',
        body: {
          text: '<@U07> acknowledged, so no reminders are sent until it recovers: disk-usage on logs.',
          response_type: 'in_channel',
          replace_original: false,
        },
      },
    ])
    const record = await (await fetch(`${rig.product.url}/api/v1/audit?limit=5`)).text()
    expect(JSON.parse(record).data).toMatchObject([
      { action: 'acknowledge-alert', actor: { subject: 'slack:T01/U07' }, target: { person: 'grace' } },
    ])
    expect(record + rig.product.logged.join('')).not.toContain('secret-of-the-answer')
  })

  it('dismisses an inbound condition', async () => {
    await using rig = await open()
    const value = JSON.stringify({ ...subject, hostKey: null })
    const actions = [{ type: 'button', action_id: 'watchhouse-dismiss', value }]
    expect(await rig.send(createSignedClick(createClick({}, { actions }), { secret }))).toMatchObject({ status: 200 })
    expect(rig.commands).toMatchObject([{ wanted: { kind: 'dismissal', episode: 'e-1', minutes: null } }])
  })

  it('replies with the reason of a failure to the user only', async () => {
    await using rig = await open(
      { CHATAPP_SIGNING_SECRET: secret },
      new ServiceError('conflict', 'this <episode> is over'),
    )
    expect(await rig.send(createSignedClick(createClick(subject), { secret }))).toMatchObject({ status: 409 })
    expect(rig.received).toMatchObject([
      { body: { text: 'Not done: this &lt;episode&gt; is over.', response_type: 'ephemeral' } },
    ])
  })

  it('is handled once, and accepts the previous secret during rotation', async () => {
    const env = { CHATAPP_SIGNING_SECRET: 'the new one', CHATAPP_SIGNING_SECRET_PREVIOUS: secret }
    await using rig = await open(env)
    const click = createSignedClick(createClick(subject), { secret })
    expect(await rig.send(click)).toMatchObject({ status: 200 })
    expect(await rig.send(click)).toMatchObject({ status: 409, text: expect.stringContaining('already processed') })
    expect(rig.commands).toHaveLength(1)
  })

  it('is rejected while no secret is set', async () => {
    await using rig = await open({})
    const answered = await rig.send(createSignedClick(createClick(subject), { secret: '' }))
    expect(answered).toMatchObject({ status: 503, text: expect.stringContaining('CHATAPP_SIGNING_SECRET') })
  })

  it('is rejected while the feature is disabled', async () => {
    await using rig = await open({ CHATAPP_SIGNING_SECRET: secret, SVC_FEATURE_HEALTH_ENABLED: 'false' })
    expect(await rig.send(createSignedClick(createClick(subject), { secret }))).toMatchObject({ status: 404 })
  })

  const good = createSignedClick(createClick(subject), { secret })
  const minuteMs = 60_000
  const withHeaders = (more: Record<string, string>): ValidRequest => ({
    ...good,
    headers: { ...good.headers, ...more },
  })
  const signed = (payload: object | string) => createSignedClick(payload, { secret })
  it.each<[string, ValidRequest, number, string]>([
    ['with another secret', createSignedClick(createClick(subject), { secret: 'guessed' }), 401, 'X-Slack-Signature'],
    ['without a signature', withHeaders({ 'x-slack-signature': '' }), 401, 'X-Slack-Signature'],
    ['of another version', withHeaders({ 'x-slack-signature': 'v1=00' }), 401, 'X-Slack-Signature'],
    ['whose body was changed', { ...good, raw: `${good.raw}x` }, 401, 'X-Slack-Signature'],
    [
      'six minutes old',
      createSignedClick(createClick(subject), { secret, atMs: Date.now() - 6 * minuteMs }),
      401,
      'Timestamp',
    ],
    [
      'six minutes ahead',
      createSignedClick(createClick(subject), { secret, atMs: Date.now() + 6 * minuteMs }),
      401,
      'Timestamp',
    ],
    ['of no time', withHeaders({ 'x-slack-request-timestamp': 'now' }), 401, 'Timestamp'],
    ['that is no form', withHeaders({ 'content-type': 'application/json' }), 415, 'a form'],
    ['that is no JSON', signed('{'), 400, 'not JSON'],
    ['of another kind', signed(createClick(subject, { type: 'view_submission' })), 400, 'type must be block_actions'],
    [
      'of another button',
      signed(createClick(subject, { actions: [{ action_id: 'x', value: '{}' }] })),
      400,
      'action_id',
    ],
    ['of no button', signed(createClick(subject, { actions: [] })), 400, 'actions'],
    ['that names nothing', signed(createClick({ episode: 'e-1' })), 400, 'ruleId'],
    [
      'to be answered elsewhere',
      signed(createClick(subject, { response_url: 'https://evil.example/' })),
      400,
      'response_url',
    ],
    ['without a user', signed(createClick(subject, { user: {} })), 400, 'user.id'],
  ])('is rejected %s', async (_what, request, status, says) => {
    await using rig = await open()
    expect(await rig.send(request)).toMatchObject({ status, text: expect.stringContaining(says) })
    expect([rig.commands, rig.received]).toEqual([[], []])
  })
})
