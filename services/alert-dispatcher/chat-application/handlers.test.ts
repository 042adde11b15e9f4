import { createClock } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { toEdgeDatabase } from '#shared/store/edge-binding.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { type ReceivedRequest, type StrictServer, startStrictServer } from '../channels/testing/strict-server.ts'
import { testServiceCall } from '../delivery/testing/fixture.ts'
import { createChatApplicationHandlers } from './handlers.ts'
import { openChatApplication } from './open-chat-application.ts'
import { maxInstallations } from './open-chat-application.ts'

const ready: Environment = {
  CHATAPP_CLIENT_ID: '12.34',
  CHATAPP_CLIENT_SECRET: 'secret-of-the-client',
  CHATAPP_OAUTH_REDIRECT_URL: 'https://watch.example/api/v1/health/chat-application/callback',
  CHATAPP_TOKEN_ENCRYPTION_KEY: 'a key that is hard to guess',
}

const grant = (channel = 'C01', team = 'T01') => ({
  status: 200,
  body: JSON.stringify({
    ok: true,
    access_token: `xoxb-token-of-${team}`,
    token_type: 'bot',
    scope: 'incoming-webhook',
    team: { id: team, name: 'Acme' },
    incoming_webhook: {
      channel: `#${channel}`,
      channel_id: channel,
      configuration_url: 'https://acme.slack.com/services/B01',
      url: `https://hooks.slack.com/services/${team}/B01/${channel}-secret`,
    },
  }),
})

/** Returns the Slack error code for an invalid request; undefined if the request is valid. */
const problem = ({ method, path, headers, text }: ReceivedRequest): string | undefined => {
  if (method !== 'POST' || headers['content-type'] !== 'application/x-www-form-urlencoded') return 'invalid_form'
  const form = new URLSearchParams(text)
  if (path === '/api/auth.revoke')
    return headers.authorization === 'Bearer xoxb-token-of-T01' ? undefined : 'not_authed'
  if (path !== '/api/oauth.v2.access') return 'unknown_method'
  const basic = `Basic ${Buffer.from('12.34:secret-of-the-client').toString('base64')}`
  if (headers.authorization !== basic) return 'bad_client_secret'
  return form.get('redirect_uri') === ready.CHATAPP_OAUTH_REDIRECT_URL && form.has('code')
    ? undefined
    : 'bad_redirect_uri'
}

let opened: AsyncDisposableStack
let slack: StrictServer
beforeEach(async () => {
  opened = new AsyncDisposableStack()
  slack = opened.use(await startStrictServer({ problem, answer: { status: 200, body: JSON.stringify({ ok: true }) } }))
})
afterEach(() => opened.disposeAsync())

const open = async (env: Environment = ready, isPersistent = true) => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-chats-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const database = isPersistent
    ? opened.use(await openDatabase(toEdgeDatabase(`file:${directory}/state.db`)))
    : undefined
  const lines: string[] = []
  const facts = { instance: 'test', version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opened.use(await openTelemetry({}, facts, { write: (line) => lines.push(line) }))
  const clock = createClock(() => 1_790_000_000_000)
  const chatApplication = await openChatApplication({ env, database, clock, log: pino({ enabled: false }) })
  const net = opened.use(openNet({ env: {} }))
  const trusted: typeof net.trusted = (url, outgoing) =>
    net.trusted(String(url).replace('https://slack.com', slack.url), outgoing)
  const own = telemetry.of('alert-dispatcher')
  const handlers = createChatApplicationHandlers({
    env,
    net: { ...net, trusted },
    clock,
    telemetry: own,
    chatApplication,
  })
  const install = (code = 'code') => handlers.installChatApplication({ code }, testServiceCall)
  const listed = async () => (await handlers.chatApplication({}, testServiceCall)).installations
  return { handlers, install, listed, chatApplication, lines }
}

describe('the Slack application', () => {
  it('requests only the permission to post to one channel', async () => {
    const { handlers } = await open()
    const { location } = await handlers.chatApplicationPage({ state: 's&t' }, testServiceCall)
    const { origin, pathname, searchParams } = new URL(location)
    expect([origin, pathname, Object.fromEntries(searchParams)]).toEqual([
      'https://slack.com',
      '/oauth/v2/authorize',
      {
        client_id: '12.34',
        scope: 'incoming-webhook',
        redirect_uri: ready.CHATAPP_OAUTH_REDIRECT_URL,
        state: 's&t',
      },
    ])
  })

  it('stores its secrets encrypted and never returns them', async () => {
    const { install, listed, chatApplication } = await open()
    slack.next(grant())
    const installed = await install()
    expect(installed).toEqual({
      id: 'T01-C01',
      workspace: 'Acme',
      chat: '#C01',
      installedBy: 'test',
      installedAtMs: 1_790_000_000_000,
    })
    expect(await listed()).toEqual([installed])
    expect(JSON.stringify(await chatApplication.store().all())).not.toMatch(/xoxb|hooks/)
    expect(await chatApplication.current()).toMatchObject([
      { token: 'xoxb-token-of-T01', url: 'https://hooks.slack.com/services/T01/B01/C01-secret' },
    ])
    expect(slack.wrong).toEqual([])
  })

  it('is decrypted only with the key that encrypted it', async () => {
    const env: Record<string, string | undefined> = { ...ready }
    const { install, chatApplication } = await open(env)
    slack.next(grant())
    await install()
    const withKey = async (key: string | undefined) => {
      env.CHATAPP_TOKEN_ENCRYPTION_KEY = key
      chatApplication.changed()
      return (await chatApplication.current()).length
    }
    expect(await withKey('another key that is hard to guess')).toBe(0)
    expect(await withKey(ready.CHATAPP_TOKEN_ENCRYPTION_KEY)).toBe(1)
  })

  it('has one installation per channel, up to a limit', async () => {
    const { install, listed } = await open()
    const chats = Array.from({ length: maxInstallations }, (_, index) => `C${index + 10}`)
    slack.next(...[...chats, chats[0], 'C99'].map((chat) => grant(chat)))
    for (const chat of [...chats, chats[0]]) await install(chat)
    expect(await listed()).toHaveLength(maxInstallations)
    await expect(install()).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is removed per channel, and the last removal in a workspace revokes the token', async () => {
    const { install, handlers, listed } = await open()
    slack.next(grant('C01'), grant('C02'))
    await install()
    await install()
    const revocations = () => slack.taken.filter(({ path }) => path === '/api/auth.revoke').length
    await handlers.removeChatApplication({ id: 'T01-C01' }, testServiceCall)
    expect(revocations()).toBe(0)
    await handlers.removeChatApplication({ id: 'T01-C02' }, testServiceCall)
    expect([revocations(), await listed(), slack.wrong]).toEqual([1, [], []])
    const again = handlers.removeChatApplication({ id: 'T01-C02' }, testServiceCall)
    await expect(again).rejects.toMatchObject({ code: 'not-found', details: { parameter: 'id' } })
  })

  it('is removed even if Slack is unreachable', async () => {
    const { install, handlers, listed, lines } = await open()
    slack.next(grant(), { status: 200, body: '{"ok":false,"error":"token_revoked"}' })
    await install()
    await handlers.removeChatApplication({ id: 'T01-C01' }, testServiceCall)
    expect(await listed()).toEqual([])
    expect(lines.join('')).toContain('token revocation failed')
    expect(lines.join('')).not.toContain('xoxb')
  })

  it.each([
    ['invalid_code', 'invalid', 'start the installation again'],
    ['code_already_used', 'invalid', 'start the installation again'],
    ['invalid_client_id', 'conflict', 'CHATAPP_CLIENT_ID'],
    ['bad_client_secret', 'conflict', 'CHATAPP_CLIENT_SECRET'],
    ['bad_redirect_uri', 'conflict', 'CHATAPP_OAUTH_REDIRECT_URL'],
  ])('is not installed if Slack returns %s', async (error, code, says) => {
    const { install, listed } = await open()
    slack.next({ status: 200, body: JSON.stringify({ ok: false, error }) })
    await expect(install()).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
    expect(await listed()).toEqual([])
  })

  it.each(['<html>', '{"ok":true}'])('is not installed if Slack responds with %s', async (body) => {
    const { install } = await open()
    slack.next({ status: 200, body })
    await expect(install()).rejects.toMatchObject({ code: body.startsWith('<') ? 'unavailable' : 'invalid' })
  })

  it.each(Object.keys(ready))('is not installed without %s', async (name) => {
    const { handlers, install } = await open({ ...ready, [name]: undefined })
    const installError = { code: 'not-implemented', message: expect.stringContaining(name) }
    await expect(handlers.chatApplicationPage({ state: 's' }, testServiceCall)).rejects.toMatchObject(installError)
    await expect(install()).rejects.toMatchObject(installError)
    expect(await handlers.chatApplication({}, testServiceCall)).toEqual({
      interactive: false,
      missing: [name],
      installations: [],
    })
    expect(slack.received).toEqual([])
  })

  it('is not installed without a state database', async () => {
    const { handlers, install, listed } = await open(ready, false)
    const installError = { code: 'not-implemented', message: expect.stringContaining('SVC_STATE_DB_URL') }
    await expect(handlers.chatApplicationPage({ state: 's' }, testServiceCall)).rejects.toMatchObject(installError)
    await expect(install()).rejects.toMatchObject(installError)
    expect(await listed()).toEqual([])
  })
})
