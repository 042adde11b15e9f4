import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emailChannel } from '../email.ts'
import { emailRigs } from '../testing/email.ts'
import type { ChannelRig } from '../testing/channel-rig.ts'
import { createMessage, sendOnce } from '../testing/send-once.ts'
import { type StrictServer, startStrictServer } from '../testing/strict-server.ts'

const rigOf = (form: string): ChannelRig => {
  const rig = emailRigs.find((each) => each.form === form)
  if (!rig) throw new Error(`no rig with form ${form}`)
  return rig
}

describe('Resend', () => {
  const rig = rigOf('mail-api-b')
  let server: StrictServer
  beforeEach(async () => {
    server = await rig.start()
  })
  afterEach(() => server[Symbol.asyncDispose]())
  const send = (message = createMessage()) => sendOnce({ channel: emailChannel, rig, server, message })
  const keys = () => server.received.map(({ headers }) => headers['idempotency-key'])

  it('uses one key per notification', async () => {
    await send()
    await send()
    await send(createMessage({ kind: 'recover', sequence: 1 }))
    const [first, again, next] = keys()
    expect(again).toBe(first)
    expect(next).not.toBe(first)
    expect(server.wrong).toEqual([])
  })

  it.each([
    [409, 'invalid_idempotent_request', { kind: 'ok' }],
    [409, 'concurrent_idempotent_requests', { kind: 'retry' }],
    [403, 'validation_error', { kind: 'config' }],
    [422, 'validation_error', { kind: 'permanent' }],
    [429, 'daily_quota_exceeded', { kind: 'retry' }],
  ])('classifies %s %s as %j', async (status, name, result) => {
    server.next({ status, body: JSON.stringify({ statusCode: status, name, message: 'no' }) })
    expect(await send()).toMatchObject(result)
  })
})

it('uses the European API of Mailgun if the URL selects it', async () => {
  await using server = await startStrictServer({
    answer: { status: 200, body: '{}' },
    problem: ({ path }) => (path === '/v3/mg.watch.example/messages' ? undefined : 'not found'),
  })
  const rig = { ...rigOf('mail-api-a'), standsFor: ['https://api.eu.mailgun.net'] }
  const env = { HEALTH_ALERT_EMAIL_PROVIDER_URL: 'mail-api-a://key@mg.watch.example?region=eu' }
  expect(await sendOnce({ channel: emailChannel, rig, server, env })).toEqual({ kind: 'ok' })
  expect(server.taken).toHaveLength(1)
})
