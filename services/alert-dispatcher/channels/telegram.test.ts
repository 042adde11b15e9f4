import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { telegramChannel } from './telegram.ts'
import { telegramRig } from './testing/telegram.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import type { StrictServer } from './testing/strict-server.ts'

describe('a Telegram chat', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await telegramRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const send = (message = createMessage(), env = {}) =>
    sendOnce({ channel: telegramChannel, rig: telegramRig, server, message, env })
  const refuse = (status: number, description: string, parameters?: object) =>
    server.next({ status, body: JSON.stringify({ ok: false, error_code: status, description, parameters }) })
  const bodies = () => server.received.map(({ text }): { chat_id: string; text: string } => JSON.parse(text))

  it('waits as long as the response body requests', async () => {
    refuse(429, 'Too Many Requests: retry after 34', { retry_after: 34 })
    expect(await send()).toEqual({ kind: 'retry', reason: 'HTTP 429', afterMs: 34_000 })
  })

  it('follows a group that became a supergroup and reports its new id', async () => {
    refuse(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: -100_123 })
    const result = await send(createMessage(), { HEALTH_ALERT_CHAT_A_CHAT_ID: '-4711' })
    expect(bodies().map(({ chat_id }) => chat_id)).toEqual(['-4711', '-100123'])
    expect(result).toEqual({
      kind: 'ok',
      remark: 'the chat has a new ID, "-100123"; update HEALTH_ALERT_CHAT_A_CHAT_ID',
    })
  })

  it.each([
    [400, 'Bad Request: chat not found', 'config'],
    [400, 'Bad Request: not enough rights to send text messages to the chat', 'config'],
    [400, "Bad Request: can't parse entities", 'permanent'],
    [401, 'Unauthorized', 'config'],
    [403, 'Forbidden: bot was blocked by the user', 'config'],
    [404, 'Not Found', 'config'],
    [500, 'Internal Server Error', 'retry'],
    [200, 'odd', 'retry'],
  ])('classifies %s %j as %s', async (status, description, kind) => {
    refuse(status, description)
    const result = await send()
    expect(result.kind).toBe(kind)
    expect(JSON.stringify(result)).not.toContain(description)
  })

  it('shows texts literally and cuts them before adding markup', async () => {
    const title = '<b>&amp;"\u202e</b>'
    expect(await send(createMessage({ title, runbook: '<&>'.repeat(2_000) }))).toEqual({ kind: 'ok' })
    const [body] = bodies()
    expect(body?.text).toContain('&lt;b&gt;&amp;amp;"')
    expect(body?.text).toMatch(/(&lt;|&amp;|&gt;)…\n\n<a href=/)
    expect(body?.text.endsWith('\n<i>watchhouse-0123456789abcdef</i>')).toBe(true)
  })

  it.each([
    ['HEALTH_ALERT_CHAT_A_BOT_TOKEN', '123456:a/../x'],
    ['HEALTH_ALERT_CHAT_A_BOT_TOKEN', 'nonsense'],
    ['HEALTH_ALERT_CHAT_A_CHAT_ID', 'my chat'],
  ])('rejects %s=%s without quoting the value', async (name, value) => {
    const sending = telegramChannel.targets.bind(
      telegramChannel,
      { ...telegramRig.env(server.url), [name]: value },
      { webhookTargets: [], subscriptions: [], chatApplications: [] },
    )
    expect(sending).toThrow(`${name}: must be`)
    expect(sending).not.toThrow(value)
  })
})
