import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { type Dialer, dial } from '#shared/net/dial.ts'
import {
  type DeliveryFixture,
  shortRetryPlan,
  testServiceCall,
  openDeliveryFixture,
} from '../../delivery/testing/fixture.ts'
import { createNotification } from '../../delivery/testing/notification.ts'
import type { Notification } from '../../notification.ts'
import { testCertificate } from '../testing/certificate.ts'
import { type ReceivedMail, type MailServer, testMailUser, startMailServer } from '../testing/mail-server.ts'
import { createMessage } from '../testing/send-once.ts'
import { renderMail } from './mail.ts'
import { sendBySmtp } from './smtp.ts'

const login = `${testMailUser.user}:${encodeURIComponent(testMailUser.pass)}`
const team = ['one@team.example', 'two@team.example']
const env = {
  HEALTH_ALERT_EMAIL_FROM: 'Störung <alerts@watch.example>',
  HEALTH_ALERT_EMAIL_TO: team.join(','),
}
const fire = (more: Partial<Notification> = {}) => createNotification({ severity: 'critical', ...more })

/** Returns the headers of a mail by lower-case name, unfolded. */
const headersOf = ({ raw }: ReceivedMail): Record<string, string> => {
  const [head = ''] = raw.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return Object.fromEntries(lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.slice(line.indexOf(':') + 2)]))
}

let opened: AsyncDisposableStack
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

describe('mail through SMTP, with the delivery pipeline', () => {
  let server: MailServer
  beforeEach(async () => {
    server = opened.use(await startMailServer({ offersTls: false }))
  })

  const url = () => ({ HEALTH_ALERT_EMAIL_PROVIDER_URL: `smtp://${login}@127.0.0.1:${server.port}` })
  const open = async (more: Parameters<typeof openDeliveryFixture>[0] = {}): Promise<DeliveryFixture> =>
    opened.use(await openDeliveryFixture({ env: { ...env, ...url() }, ...more }))
  const ended = async (fixture: DeliveryFixture, count = 1) => {
    const ends = () => fixture.delivery.handlers.deliveries({ limit: 10 }, testServiceCall)
    await waitUntil(async () => (await ends()).length >= count)
    return (await ends()).toReversed()
  }

  it('sends an alert and its recovery in one thread', async () => {
    const fixture = await open()
    await fixture.notify(fire())
    await ended(fixture)
    await fixture.notify(fire({ kind: 'recover', sequence: 1 }))
    expect(await ended(fixture, 2)).toMatchObject([{ result: 'sent' }, { result: 'sent' }])
    const [first, second] = server.taken.map(headersOf)
    expect(first?.subject).toBe('CRITICAL: Disk almost full on Database (91.5 %)')
    expect(second?.subject).toBe('RECOVERED: Disk almost full on Database')
    expect(first?.references).toMatch(/^<[0-9a-f]{32}@watch\.example>$/)
    expect([second?.references, second?.['in-reply-to']]).toEqual([first?.references, first?.references])
    expect(second?.['message-id']).not.toBe(first?.['message-id'])
    expect(server.taken[0]).toMatchObject({ user: 'alerts', from: 'alerts@watch.example', to: team })
  })

  it('repeats a mail with the same message id', async () => {
    const fixture = await open()
    server.next({ at: 'two@team.example', code: 450 })
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(server.taken.map(({ to }) => to)).toEqual([['one@team.example'], team])
    const [first, second] = server.taken.map((mail) => headersOf(mail)['message-id'])
    expect(second).toBe(first)
  })

  it('allows no header injection', async () => {
    const fixture = await open()
    const wild = 'x\r\nBcc: all@elsewhere.example\r\n\r\n.\r\nMAIL FROM:<a@b> \u0000 😀 <b>&"'
    await fixture.notify(fire({ title: wild, offenders: [wild], runbook: wild.repeat(30) }))
    expect(await ended(fixture)).toMatchObject([{ result: 'sent' }])
    expect(server.taken).toHaveLength(1)
    const [mail] = server.taken
    expect(mail?.to).toEqual(team)
    expect(mail && Object.keys(headersOf(mail)).toSorted()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'in-reply-to',
      'message-id',
      'mime-version',
      'references',
      'subject',
      'to',
      'x-watchhouse-installation',
    ])
    for (const line of mail?.raw.split('\r\n') ?? []) expect(line.length).toBeLessThanOrEqual(998)
  })

  it.each([
    [{ at: 'login', code: 535 }, 'dead', 'SMTP 535'],
    [{ at: 'sender', code: 550 }, 'dead', 'SMTP 550'],
    [{ at: 'text', code: 554 }, 'dead', 'SMTP 554'],
  ] as const)('gives up after %j', async (refusal, result, reason) => {
    const fixture = await open()
    server.next(refusal)
    await fixture.notify(fire({ severity: 'warning' }))
    expect(await ended(fixture)).toMatchObject([{ result, reason, attempts: 1 }])
  })

  it('retries critical notifications even while the login fails', async () => {
    const fixture = await open()
    server.next({ at: 'login', code: 535 })
    await fixture.notify(fire({ severity: 'critical' }))
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
  })

  it.each([
    { at: 'login', code: 454 },
    { at: 'sender', code: 421 },
    { at: 'text', code: 452 },
    { at: 'two@team.example', code: 450 },
  ])('retries after %j', async (refusal) => {
    const fixture = await open()
    server.next(refusal)
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(server.taken.at(-1)?.to).toEqual(team)
  })

  it('is misconfigured while the login fails', async () => {
    const fixture = await open({ retry: { ...shortRetryPlan, waitsMs: [300] } })
    server.next({ at: 'login', code: 535 })
    await fixture.notify(fire({ severity: 'warning' }))
    await ended(fixture)
    const targets = () => fixture.delivery.handlers.alertTargets({}, testServiceCall)
    expect(await targets()).toMatchObject([{ broken: { reason: 'SMTP 535' } }])
    await fixture.notify(fire({ episode: 'next' }))
    await ended(fixture, 2)
    expect(await targets()).toMatchObject([{ broken: null }])
  })

  it('sends to the other recipients if one is rejected, and reports it', async () => {
    const fixture = await open()
    server.next({ at: 'two@team.example', code: 550 })
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'sent', attempts: 1 }])
    expect(server.taken.map(({ to }) => to)).toEqual([['one@team.example']])
    const targets = await fixture.delivery.handlers.alertTargets({}, testServiceCall)
    expect(targets).toMatchObject([{ last: { reason: 'rejected for 1 of 2 recipients' } }])
  })

  it('gives up if every recipient is rejected', async () => {
    const fixture = await open()
    server.next([
      { at: 'one@team.example', code: 550 },
      { at: 'two@team.example', code: 550 },
    ])
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'dead', reason: 'SMTP 550' }])
  })

  it('retries without a response and if the server is unreachable, without revealing secrets', async () => {
    // Long enough for a refused connection on a busy machine, which would otherwise count as a timeout.
    const fixture = await open({ sendWithinMs: 2_000 })
    server.next('silent', { at: 'login', code: 535 })
    await fixture.notify(fire())
    await ended(fixture)
    await server[Symbol.asyncDispose]()
    await fixture.notify(fire({ episode: 'next' }))
    await waitUntil(async () => (await fixture.output()).includes('cannot be reached'))
    const { handlers } = fixture.delivery
    const answers = await Promise.all([
      handlers.deliveries({ limit: 10 }, testServiceCall),
      handlers.alertTargets({}, testServiceCall),
    ])
    const everything = `${await fixture.output()} ${JSON.stringify(answers)}`
    expect(everything).toContain('connection lost')
    for (const secret of [testMailUser.pass, encodeURIComponent(testMailUser.pass), '127.0.0.1'])
      expect(everything).not.toContain(secret)
  })

  it('reaches a saved server only through the guarded network', { tags: ['long'] }, async () => {
    const policy = { channels: { email: { variables: url() } } }
    const retry = { ...shortRetryPlan, lifeMs: { paging: 500, others: 500 } }
    const fixture = await open({ env, policy, retry })
    await fixture.notify(fire())
    expect(await ended(fixture)).toMatchObject([{ result: 'dead', reason: expect.stringContaining('not allowed') }])
    expect(server.logins).toEqual([])
  })
})

describe('mail with TLS', () => {
  const trusted = getCACertificates('default')
  beforeEach(() => setDefaultCACertificates([...trusted, testCertificate.cert]))
  afterEach(() => setDefaultCACertificates(trusted))

  const mail = renderMail(createMessage(), {
    from: { name: '', address: 'alerts@watch.example' },
    to: [{ name: '', address: 'one@team.example' }],
  })
  const send = ({ port }: MailServer, host = 'localhost', isSecure = false, way: Dialer = dial) =>
    sendBySmtp({ kind: 'smtp', host, port, isSecure, login: testMailUser }, mail, way)
  /** Dials the server, which then appears to have a public address. */
  const dialFar: Dialer = async (address, signal) =>
    Object.defineProperty(await dial(address, signal), 'remoteAddress', { value: '192.0.78.9' })

  it('uses STARTTLS if the server offers it', async () => {
    const server = opened.use(await startMailServer())
    expect(await send(server)).toEqual({ kind: 'ok' })
    expect(server.taken).toMatchObject([{ isPrivate: true }])
  })

  it('uses implicit TLS for smtps', async () => {
    const server = opened.use(await startMailServer({ isSecure: true }))
    expect(await send(server, 'localhost', true)).toEqual({ kind: 'ok' })
    expect(server.taken).toMatchObject([{ isPrivate: true }])
  })

  it.each([true, false])(
    'sends no password to a server with a certificate for another name (smtps: %s)',
    async (isSecure) => {
      const server = opened.use(await startMailServer({ isSecure }))
      expect(await send(server, '127.0.0.1', isSecure)).toMatchObject({ kind: 'retry' })
      expect(server.logins).toEqual([])
    },
  )

  it('sends no plain-text password over the internet', async () => {
    const server = opened.use(await startMailServer({ offersTls: false }))
    expect(await send(server, 'localhost', false, dialFar)).toMatchObject({ kind: 'config' })
    expect(server.logins).toEqual([])
    expect(await send(server)).toEqual({ kind: 'ok' })
  })
})

it('sends a mail with a text and an HTML body', async () => {
  await using server = await startMailServer({ offersTls: false })
  const message = createMessage({ severity: 'critical', sinceMs: 0, atMs: 60_000 })
  const to = [{ name: 'Équipe', address: 'one@team.example' }]
  const mail = renderMail(message, { from: { name: 'Störung', address: 'alerts@watch.example' }, to })
  await sendBySmtp(
    { kind: 'smtp', host: '127.0.0.1', port: server.port, isSecure: false, login: testMailUser },
    mail,
    dial,
  )
  const raw = server.taken.map((taken) => taken.raw).join('')
  const stable = raw.replaceAll(/--_NmP-[\w-]+|Date: .*/g, (found) => (found.startsWith('D') ? 'Date: now' : '--part'))
  expect(stable.replaceAll('\r\n', '\n')).toMatchSnapshot()
})
