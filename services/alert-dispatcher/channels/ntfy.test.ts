import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ntfyChannel } from './ntfy.ts'
import { ntfyRig } from './testing/ntfy.ts'
import { createMessage, sendOnce } from './testing/send-once.ts'
import type { StrictServer } from './testing/strict-server.ts'

describe('an ntfy topic', () => {
  let server: StrictServer
  beforeEach(async () => {
    server = await ntfyRig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())

  const send = (message = createMessage(), env = {}) =>
    sendOnce({ channel: ntfyChannel, rig: ntfyRig, server, message, env })

  it.each([
    [{ severity: 'critical' }, 5, 'rotating_light'],
    [{ severity: 'warning' }, 4, 'warning'],
    [{ severity: 'critical', kind: 'recover' }, 3, 'white_check_mark'],
    [{ severity: 'critical', kind: 'test' }, 3, 'bell'],
  ] as const)('sends %j with priority %s', async (more, priority, picture) => {
    expect(await send(createMessage(more))).toEqual({ kind: 'ok' })
    const [sent] = server.taken
    expect(JSON.parse(sent?.text ?? '')).toMatchObject({
      topic: 'our-alerts',
      priority,
      tags: [picture, 'watchhouse-0123456789abcdef'],
      click: 'https://watch.example/health?host=3',
    })
  })

  it('sends titles beyond latin-1 and keeps messages within the size limit', async () => {
    const title = 'Диск 😀 满'
    expect(await send(createMessage({ title, runbook: '"😀\n'.repeat(4_000) }))).toEqual({ kind: 'ok' })
    expect(server.wrong).toEqual([])
    const [sent] = server.taken
    const body: { title: string; message: string } = JSON.parse(sent?.text ?? '')
    expect(body.title).toBe(`[prod] WARNING: ${title} on Database (91.5 %)`)
    expect(Buffer.byteLength(body.message)).toBeGreaterThan(2_000)
    expect(body.message).toMatch(/…$/)
  })

  it('sends its token if configured', async () => {
    await send()
    await send(createMessage(), { HEALTH_ALERT_PUSH_A_TOKEN: 'tk_secret' })
    expect(server.taken.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer tk_secret'])
  })

  it('sends user and password from its URL, even with an unencoded password', async () => {
    const { HEALTH_ALERT_PUSH_A_URL: url = '' } = ntfyRig.env(server.url)
    await send(createMessage(), { HEALTH_ALERT_PUSH_A_URL: url.replace('://', '://me:100%25@') })
    expect(server.taken[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:100%').toString('base64')}`)
  })

  it.each([
    [429, 42_901, { kind: 'retry', reason: 'HTTP 429' }],
    [429, 42_908, { kind: 'retry', afterMs: 1_800_000 }],
    [401, 40_101, { kind: 'config' }],
    [403, 40_301, { kind: 'config' }],
    [400, 40_009, { kind: 'config' }],
    [400, 40_017, { kind: 'permanent' }],
    [413, 41_303, { kind: 'permanent' }],
    [507, 50_701, { kind: 'retry' }],
  ])('classifies %s with code %s', async (status, code, expected) => {
    server.next({ status, body: JSON.stringify({ code, http: status, error: 'x', link: 'y' }) })
    expect(await send()).toMatchObject(expected)
  })

  it.each(['https://ntfy.sh', 'https://ntfy.sh/', 'https://ntfy.sh/no topic', 'ftp://ntfy.sh/alerts', 'alerts'])(
    'rejects %s as a topic',
    (values) => {
      expect(() =>
        ntfyChannel.targets(
          { HEALTH_ALERT_PUSH_A_URL: values },
          { webhookTargets: [], subscriptions: [], chatApplications: [] },
        ),
      ).toThrow(/must/)
    },
  )
})
