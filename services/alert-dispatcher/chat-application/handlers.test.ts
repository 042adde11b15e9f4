import { clockOf } from '#shared/time/clock.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Environment } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import { edgeDatabase } from '#shared/store/edge-binding.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import { openTelemetry } from '#shared/telemetry/open.ts'
import { type Received, type StrictServer, startStrictServer } from '../channels/testing/strict-server.ts'
import { call } from '../delivery/testing/place.ts'
import { chatApplicationHandlers } from './handlers.ts'
import { openChatApplication } from './open.ts'
import { mostInstallations } from './open.ts'

const ready: Environment = {
  CHATAPP_CLIENT_ID: '12.34',
  CHATAPP_CLIENT_SECRET: 'secret-of-the-client',
  CHATAPP_OAUTH_REDIRECT_URL: 'https://watch.example/api/v1/health/chat-application/callback',
  CHATAPP_TOKEN_ENCRYPTION_KEY: 'a key that nobody guesses',
}

const granted = (channel = 'C01', team = 'T01') => ({
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

/** What is wrong with a request to the two methods of Slack that we ask. */
const problem = ({ method, path, headers, text }: Received): string | undefined => {
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

const open = async (env: Environment = ready, isLasting = true) => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-chats-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  const database = isLasting ? opened.use(await openDatabase(edgeDatabase(`file:${directory}/state.db`))) : undefined
  const lines: string[] = []
  const facts = { instance: 'test', version: 'test', services: ['alert-dispatcher'], secretNames: [] }
  const telemetry = opened.use(await openTelemetry({}, facts, { write: (line) => lines.push(line) }))
  const clock = clockOf(() => 1_790_000_000_000)
  const chatApplication = await openChatApplication({ env, database, clock, log: pino({ enabled: false }) })
  const net = opened.use(openNet({ env: {} }))
  const trusted: typeof net.trusted = (url, outgoing) =>
    net.trusted(String(url).replace('https://slack.com', slack.url), outgoing)
  const own = telemetry.of('alert-dispatcher')
  const handlers = chatApplicationHandlers({ env, net: { ...net, trusted }, clock, telemetry: own, chatApplication })
  const install = (code = 'code') => handlers.installChatApplication({ code }, call)
  const listed = async () => (await handlers.chatApplication({}, call)).installations
  return { handlers, install, listed, chatApplication, lines }
}

describe('the chat application', () => {
  it('is installed by a page of the chat service that may post into one chat, and by nothing more', async () => {
    const { handlers } = await open()
    const { location } = await handlers.chatApplicationPage({ state: 's&t' }, call)
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

  it('keeps what it is given encrypted, and shows none of it', async () => {
    const { install, listed, chatApplication } = await open()
    slack.next(granted())
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

  it('is read with the key that it was kept under, and with no other', async () => {
    const env: Record<string, string | undefined> = { ...ready }
    const { install, chatApplication } = await open(env)
    slack.next(granted())
    await install()
    const withKey = async (key: string | undefined) => {
      env.CHATAPP_TOKEN_ENCRYPTION_KEY = key
      chatApplication.changed()
      return (await chatApplication.current()).length
    }
    expect(await withKey('another key that nobody guesses')).toBe(0)
    expect(await withKey(ready.CHATAPP_TOKEN_ENCRYPTION_KEY)).toBe(1)
  })

  it('is one installation for each chat, of which there are few', async () => {
    const { install, listed } = await open()
    const chats = Array.from({ length: mostInstallations }, (_, index) => `C${index + 10}`)
    slack.next(...[...chats, chats[0], 'C99'].map((chat) => granted(chat)))
    for (const chat of [...chats, chats[0]]) await install(chat)
    expect(await listed()).toHaveLength(mostInstallations)
    await expect(install()).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is forgotten chat by chat, and its token ends with the last of a workspace', async () => {
    const { install, handlers, listed } = await open()
    slack.next(granted('C01'), granted('C02'))
    await install()
    await install()
    const asked = () => slack.taken.filter(({ path }) => path === '/api/auth.revoke').length
    await handlers.removeChatApplication({ id: 'T01-C01' }, call)
    expect(asked()).toBe(0)
    await handlers.removeChatApplication({ id: 'T01-C02' }, call)
    expect([asked(), await listed(), slack.wrong]).toEqual([1, [], []])
    const again = handlers.removeChatApplication({ id: 'T01-C02' }, call)
    await expect(again).rejects.toMatchObject({ code: 'not-found', details: { parameter: 'id' } })
  })

  it('is forgotten although the chat service does not hear of it', async () => {
    const { install, handlers, listed, lines } = await open()
    slack.next(granted(), { status: 200, body: '{"ok":false,"error":"token_revoked"}' })
    await install()
    await handlers.removeChatApplication({ id: 'T01-C01' }, call)
    expect(await listed()).toEqual([])
    expect(lines.join('')).toContain('could not be revoked')
    expect(lines.join('')).not.toContain('xoxb')
  })

  it.each([
    ['invalid_code', 'invalid', 'begin the installation again'],
    ['code_already_used', 'invalid', 'begin the installation again'],
    ['invalid_client_id', 'conflict', 'CHATAPP_CLIENT_ID'],
    ['bad_client_secret', 'conflict', 'CHATAPP_CLIENT_SECRET'],
    ['bad_redirect_uri', 'conflict', 'CHATAPP_OAUTH_REDIRECT_URL'],
  ])('is not installed when the chat service says %s', async (error, code, says) => {
    const { install, listed } = await open()
    slack.next({ status: 200, body: JSON.stringify({ ok: false, error }) })
    await expect(install()).rejects.toMatchObject({ code, message: expect.stringContaining(says) })
    expect(await listed()).toEqual([])
  })

  it.each(['<html>', '{"ok":true}'])('is not installed when the chat service answers %s', async (body) => {
    const { install } = await open()
    slack.next({ status: 200, body })
    await expect(install()).rejects.toMatchObject({ code: body.startsWith('<') ? 'unavailable' : 'invalid' })
  })

  it.each(Object.keys(ready))('is not installed without %s', async (name) => {
    const { handlers, install } = await open({ ...ready, [name]: undefined })
    const refusal = { code: 'not-implemented', message: expect.stringContaining(name) }
    await expect(handlers.chatApplicationPage({ state: 's' }, call)).rejects.toMatchObject(refusal)
    await expect(install()).rejects.toMatchObject(refusal)
    expect(await handlers.chatApplication({}, call)).toEqual({ interactive: false, missing: [name], installations: [] })
    expect(slack.received).toEqual([])
  })

  it('is not installed where it would be forgotten', async () => {
    const { handlers, install, listed } = await open(ready, false)
    const refusal = { code: 'not-implemented', message: expect.stringContaining('SVC_STATE_DB_URL') }
    await expect(handlers.chatApplicationPage({ state: 's' }, call)).rejects.toMatchObject(refusal)
    await expect(install()).rejects.toMatchObject(refusal)
    expect(await listed()).toEqual([])
  })
})
