import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#shared/bus/conformance/implementations.suite.ts'
import { type Dial, dial } from '#shared/net/dial.ts'
import { type Place, briefRetry, call, openPlace } from '../../delivery/testing/place.ts'
import { noticeOf } from '../../delivery/testing/notice.ts'
import type { Notice } from '../../notice.ts'
import { certificate } from '../testing/certificate.ts'
import { type HandedIn, type MailServer, mailUser, startMailServer } from '../testing/mail-server.ts'
import { messageFor } from '../testing/send-once.ts'
import { mailOf } from './mail.ts'
import { sendBySmtp } from './smtp.ts'

const login = `${mailUser.user}:${encodeURIComponent(mailUser.pass)}`
const team = ['one@team.example', 'two@team.example']
const env = {
  HEALTH_ALERT_EMAIL_FROM: 'Störung <alerts@watch.example>',
  HEALTH_ALERT_EMAIL_TO: team.join(','),
}
const fire = (more: Partial<Notice> = {}) => noticeOf({ severity: 'critical', ...more })

/** The headers of a mail by their names in lower case, each in one line. */
const headersOf = ({ raw }: HandedIn): Record<string, string> => {
  const [head = ''] = raw.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return Object.fromEntries(lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.slice(line.indexOf(':') + 2)]))
}

let opened: AsyncDisposableStack
beforeEach(() => {
  opened = new AsyncDisposableStack()
})
afterEach(() => opened.disposeAsync())

describe('mail through a mail server, in the pipeline', () => {
  let server: MailServer
  beforeEach(async () => {
    server = opened.use(await startMailServer({ offersTls: false }))
  })

  const url = () => ({ HEALTH_ALERT_EMAIL_PROVIDER_URL: `smtp://${login}@127.0.0.1:${server.port}` })
  const open = async (more: Parameters<typeof openPlace>[0] = {}): Promise<Place> =>
    opened.use(await openPlace({ env: { ...env, ...url() }, ...more }))
  const ended = async (place: Place, count = 1) => {
    const ends = () => place.delivery.handlers.deliveries({ limit: 10 }, call)
    await until(async () => (await ends()).length >= count)
    return (await ends()).toReversed()
  }

  it('tells a fire and its recovery in one thread', async () => {
    const place = await open()
    await place.tell(fire())
    await ended(place)
    await place.tell(fire({ kind: 'recover', sequence: 1 }))
    expect(await ended(place, 2)).toMatchObject([{ result: 'sent' }, { result: 'sent' }])
    const [first, second] = server.taken.map(headersOf)
    expect(first?.subject).toBe('CRITICAL: Disk almost full on Database (91.5 %)')
    expect(second?.subject).toBe('RECOVERED: Disk almost full on Database')
    expect(first?.references).toMatch(/^<[0-9a-f]{32}@watch\.example>$/)
    expect([second?.references, second?.['in-reply-to']]).toEqual([first?.references, first?.references])
    expect(second?.['message-id']).not.toBe(first?.['message-id'])
    expect(server.taken[0]).toMatchObject({ user: 'alerts', from: 'alerts@watch.example', to: team })
  })

  it('has the same id when it is sent again, so that those who have it twice see it once', async () => {
    const place = await open()
    server.next({ at: 'two@team.example', code: 450 })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(server.taken.map(({ to }) => to)).toEqual([['one@team.example'], team])
    const [first, second] = server.taken.map((mail) => headersOf(mail)['message-id'])
    expect(second).toBe(first)
  })

  it('holds nothing that a text could have begun', async () => {
    const place = await open()
    const wild = 'x\r\nBcc: all@elsewhere.example\r\n\r\n.\r\nMAIL FROM:<a@b> \u0000 😀 <b>&"'
    await place.tell(fire({ title: wild, offenders: [wild], runbook: wild.repeat(30) }))
    expect(await ended(place)).toMatchObject([{ result: 'sent' }])
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
    [{ at: 'login', code: 535 }, 'dead', 'answered 535'],
    [{ at: 'sender', code: 550 }, 'dead', 'answered 550'],
    [{ at: 'text', code: 554 }, 'dead', 'answered 554'],
  ] as const)('gives up after %j', async (refusal, result, reason) => {
    const place = await open()
    server.next(refusal)
    await place.tell(fire({ severity: 'warning' }))
    expect(await ended(place)).toMatchObject([{ result, reason, attempts: 1 }])
  })

  it('tries what is critical again even while it is not let in', async () => {
    const place = await open()
    server.next({ at: 'login', code: 535 })
    await place.tell(fire({ severity: 'critical' }))
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
  })

  it.each([
    { at: 'login', code: 454 },
    { at: 'sender', code: 421 },
    { at: 'text', code: 452 },
    { at: 'two@team.example', code: 450 },
  ])('tries again after %j', async (refusal) => {
    const place = await open()
    server.next(refusal)
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 2 }])
    expect(server.taken.at(-1)?.to).toEqual(team)
  })

  it('is broken while it does not let us in, until it does', async () => {
    const place = await open({ retry: { ...briefRetry, waitsMs: [300] } })
    server.next({ at: 'login', code: 535 })
    await place.tell(fire({ severity: 'warning' }))
    await ended(place)
    const targets = () => place.delivery.handlers.alertTargets({}, call)
    expect(await targets()).toMatchObject([{ broken: { reason: 'answered 535' } }])
    await place.tell(fire({ episode: 'next' }))
    await ended(place, 2)
    expect(await targets()).toMatchObject([{ broken: null }])
  })

  it('tells the others although one recipient is refused, and says so', async () => {
    const place = await open()
    server.next({ at: 'two@team.example', code: 550 })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'sent', attempts: 1 }])
    expect(server.taken.map(({ to }) => to)).toEqual([['one@team.example']])
    const targets = await place.delivery.handlers.alertTargets({}, call)
    expect(targets).toMatchObject([{ last: { reason: 'refused for 1 of 2 recipients' } }])
  })

  it('gives up when every recipient is refused', async () => {
    const place = await open()
    server.next([
      { at: 'one@team.example', code: 550 },
      { at: 'two@team.example', code: 550 },
    ])
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'dead', reason: 'answered 550' }])
  })

  it('tries again when no answer comes, and when there is nobody, and tells its secrets to nobody', async () => {
    const place = await open({ sendWithinMs: 300 })
    server.next('silent', { at: 'login', code: 535 })
    await place.tell(fire())
    await ended(place)
    await server[Symbol.asyncDispose]()
    await place.tell(fire({ episode: 'next' }))
    await until(async () => (await place.said()).includes('cannot be reached'))
    const { handlers } = place.delivery
    const answers = await Promise.all([handlers.deliveries({ limit: 10 }, call), handlers.alertTargets({}, call)])
    const everything = `${await place.said()} ${JSON.stringify(answers)}`
    expect(everything).toContain('broke off')
    for (const secret of [mailUser.pass, encodeURIComponent(mailUser.pass), '127.0.0.1'])
      expect(everything).not.toContain(secret)
  })

  it('reaches a saved server through the guard only', { tags: ['long'] }, async () => {
    const policy = { channels: { email: { variables: url() } } }
    const place = await open({ env, policy })
    await place.tell(fire())
    expect(await ended(place)).toMatchObject([{ result: 'dead', reason: expect.stringContaining('may not be asked') }])
    expect(server.logins).toEqual([])
  })
})

describe('mail through TLS', () => {
  const trusted = getCACertificates('default')
  beforeEach(() => setDefaultCACertificates([...trusted, certificate.cert]))
  afterEach(() => setDefaultCACertificates(trusted))

  const mail = mailOf(messageFor(), {
    from: { name: '', address: 'alerts@watch.example' },
    to: [{ name: '', address: 'one@team.example' }],
  })
  const send = ({ port }: MailServer, host = 'localhost', isSecure = false, way: Dial = dial) =>
    sendBySmtp({ kind: 'smtp', host, port, isSecure, login: mailUser }, mail, way)
  /** As if the server were somewhere in the internet. */
  const dialFar: Dial = async (place, signal) =>
    Object.defineProperty(await dial(place, signal), 'remoteAddress', { value: '192.0.78.9' })

  it('begins with it wherever it is offered', async () => {
    const server = opened.use(await startMailServer())
    expect(await send(server)).toEqual({ kind: 'ok' })
    expect(server.taken).toMatchObject([{ isPrivate: true }])
  })

  it('speaks it from the first byte to smtps', async () => {
    const server = opened.use(await startMailServer({ isSecure: true }))
    expect(await send(server, 'localhost', true)).toEqual({ kind: 'ok' })
    expect(server.taken).toMatchObject([{ isPrivate: true }])
  })

  it.each([true, false])(
    'says no password to a server whose certificate is of another name (smtps: %s)',
    async (isSecure) => {
      const server = opened.use(await startMailServer({ isSecure }))
      expect(await send(server, '127.0.0.1', isSecure)).toMatchObject({ kind: 'retry' })
      expect(server.logins).toEqual([])
    },
  )

  it('says no password in the clear through the internet', async () => {
    const server = opened.use(await startMailServer({ offersTls: false }))
    expect(await send(server, 'localhost', false, dialFar)).toMatchObject({ kind: 'config' })
    expect(server.logins).toEqual([])
    expect(await send(server)).toEqual({ kind: 'ok' })
  })
})

it('is a mail with two bodies', async () => {
  await using server = await startMailServer({ offersTls: false })
  const message = messageFor({ severity: 'critical', sinceMs: 0, atMs: 60_000 })
  const to = [{ name: 'Équipe', address: 'one@team.example' }]
  const mail = mailOf(message, { from: { name: 'Störung', address: 'alerts@watch.example' }, to })
  await sendBySmtp({ kind: 'smtp', host: '127.0.0.1', port: server.port, isSecure: false, login: mailUser }, mail, dial)
  const raw = server.taken.map((taken) => taken.raw).join('')
  const stable = raw.replaceAll(/--_NmP-[\w-]+|Date: .*/g, (found) => (found.startsWith('D') ? 'Date: now' : '--part'))
  expect(stable.replaceAll('\r\n', '\n')).toMatchSnapshot()
})
