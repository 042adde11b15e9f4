import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { SMTPServer } from 'smtp-server'
import { certificate } from './certificate.ts'

/** A mail as it was handed in. */
export interface HandedIn {
  user: string
  from: string
  to: readonly string[]
  /** Whether it came through TLS. */
  isPrivate: boolean
  /** Headers and body. */
  raw: string
}

/** Where the server says no (at the login, the sender, the text, or a recipient of this address), or says nothing any more. */
export type Refusal = { at: string; code: number } | 'silent'

/** A mail server that lets in one user and notes what it takes. */
export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly taken: readonly HandedIn[]
  /** Logins, right or wrong. */
  readonly logins: readonly string[]
  /** The next mails are refused so, one after the other. */
  next(...refusals: readonly (Refusal | Refusal[])[]): void
}

export const mailUser = { user: 'alerts', pass: 'p@ss/word:secret-0001' }

interface Chosen {
  /** Speaks TLS from the first byte. */
  isSecure?: boolean
  offersTls?: boolean
}

/** Starts a mail server on a port of its own. */
export const startMailServer = async ({ isSecure = false, offersTls = true }: Chosen = {}): Promise<MailServer> => {
  const taken: HandedIn[] = []
  const logins: string[] = []
  const planned: (readonly Refusal[])[] = []
  /** What is refused while this mail is handed in. */
  let refusals: readonly Refusal[] = []
  const answer = (at: string, done: (error?: Error | null) => void, otherwise: () => void): void => {
    if (refusals.includes('silent')) return
    const refusal = refusals.find((one) => one !== 'silent' && one.at === at)
    if (refusal === undefined || refusal === 'silent') otherwise()
    else done(Object.assign(new Error('not you, p@ss/word:secret-0001'), { responseCode: refusal.code }))
  }
  const server = new SMTPServer({
    ...certificate,
    secure: isSecure,
    allowInsecureAuth: true,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    onConnect: (_session, done) => {
      refusals = planned.shift() ?? []
      done()
    },
    onAuth: ({ username, password }, _session, done) => {
      logins.push(`${username}:${password}`)
      const isKnown = username === mailUser.user && password === mailUser.pass
      answer('login', done, () => (isKnown ? done(null, { user: username }) : done(new Error('unknown'))))
    },
    onMailFrom: (_address, _session, done) => answer('sender', done, () => done()),
    onRcptTo: ({ address }, _session, done) => answer(address, done, () => done()),
    onData: (stream, { envelope: { mailFrom, rcptTo }, secure: isPrivate, user }, done) =>
      readAll(stream, (raw) =>
        answer('text', done, () => {
          const from = mailFrom === false ? '' : mailFrom.address
          taken.push({ user: String(user), from, to: rcptTo.map(({ address }) => address), isPrivate, raw })
          done()
        }),
      ),
  })
  // Those who leave early reset their connection.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this kind.
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
