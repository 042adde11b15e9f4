import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { SMTPServer } from 'smtp-server'
import { testCertificate } from './certificate.ts'

/** A received mail. */
export interface ReceivedMail {
  user: string
  from: string
  to: readonly string[]
  /** Whether it was received over TLS. */
  isPrivate: boolean
  /** Headers and body as received. */
  raw: string
}

/** `at` is the step that the server rejects: `login`, `sender`, `text` or a recipient. `silent` means no response. */
export type SmtpRejection = { at: string; code: number } | 'silent'

/** An SMTP server that accepts one user and records mails. */
export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly taken: readonly ReceivedMail[]
  /** Login attempts, successful or not. */
  readonly logins: readonly string[]
  /** Sets the rejections of the next mails, in order. */
  next(...refusals: readonly (SmtpRejection | SmtpRejection[])[]): void
}

export const testMailUser = { user: 'alerts', pass: 'p@ss/word:secret-0001' }

interface MailServerOptions {
  /** Whether connections start with TLS. */
  isSecure?: boolean
  offersTls?: boolean
}

/** Starts a mail server on a free port. */
export const startMailServer = async ({
  isSecure = false,
  offersTls = true,
}: MailServerOptions = {}): Promise<MailServer> => {
  const taken: ReceivedMail[] = []
  const logins: string[] = []
  const planned: (readonly SmtpRejection[])[] = []
  /** The rejections that apply to the current mail. */
  let refusals: readonly SmtpRejection[] = []
  const reply = (at: string, done: (error?: Error | null) => void, otherwise: () => void): void => {
    if (refusals.includes('silent')) return
    const refusal = refusals.find((one) => one !== 'silent' && one.at === at)
    if (refusal === undefined || refusal === 'silent') otherwise()
    else done(Object.assign(new Error('not you, p@ss/word:secret-0001'), { responseCode: refusal.code }))
  }
  const server = new SMTPServer({
    ...testCertificate,
    secure: isSecure,
    allowInsecureAuth: true,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    onConnect: (_session, done) => {
      refusals = planned.shift() ?? []
      done()
    },
    onAuth: ({ username, password }, _session, done) => {
      logins.push(`${username}:${password}`)
      const isKnown = username === testMailUser.user && password === testMailUser.pass
      reply('login', done, () => (isKnown ? done(null, { user: username }) : done(new Error('unknown'))))
    },
    onMailFrom: (_address, _session, done) => reply('sender', done, () => done()),
    onRcptTo: ({ address }, _session, done) => reply(address, done, () => done()),
    onData: (stream, { envelope: { mailFrom, rcptTo }, secure: isPrivate, user }, done) =>
      readAll(stream, (raw) =>
        reply('text', done, () => {
          const from = mailFrom === false ? '' : mailFrom.address
          taken.push({ user: String(user), from, to: rcptTo.map(({ address }) => address), isPrivate, raw })
          done()
        }),
      ),
  })
  // Clients that disconnect early reset their connection.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // The address of a listening TCP server is never a string or null.
  const { port } = server.server.address() as AddressInfo
  return {
    port,
    taken,
    logins,
    next: (...more) => void planned.push(...more.map((one) => (Array.isArray(one) ? one : [one]))),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const readAll = (stream: Readable, done: (text: string) => void): void => {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  stream.on('end', () => done(Buffer.concat(chunks).toString()))
}
