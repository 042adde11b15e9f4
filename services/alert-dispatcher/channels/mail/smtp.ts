import type { SMTPTransportOptions } from 'nodemailer'
import { z } from 'zod'
import { reachOf } from '#shared/net/address.ts'
import type { Dial } from '#shared/net/dial.ts'
import { NetFailure } from '#shared/net/failure.ts'
import { type SendResult, sendWithinMs } from '../channel.ts'
import { judgeFailure } from '../channel-request.ts'
import type { Mail, SmtpServer } from './mail.ts'

/** Hands a mail in at a mail server, over a connection that `dial` opens. */
export const sendBySmtp = async (server: SmtpServer, mail: Mail, dial: Dial): Promise<SendResult> => {
  const signal = AbortSignal.timeout(sendWithinMs)
  try {
    const connection = await dial({ host: server.host, port: server.port }, signal)
    try {
      return afterwards(await handIn(server, mail, { connection, signal }))
    } catch (error) {
      const failure = Failure.safeParse(error).data
      if (!failure) throw error
      return judgeSmtp(failure)
    } finally {
      connection.destroy()
    }
  } catch (error) {
    if (error instanceof NetFailure) return judgeFailure(error)
    throw error
  }
}

interface Over {
  connection: Awaited<ReturnType<Dial>>
  signal: AbortSignal
}

const handIn = async ({ host, port, isSecure, login }: SmtpServer, mail: Mail, { connection, signal }: Over) => {
  const { createTransport } = await import('nodemailer')
  const { from, to, subject, text, html, messageId, headers } = mail
  const options: SMTPTransportOptions = {
    host,
    port,
    secure: isSecure,
    // Relays inside a network often know no TLS; through the internet no password goes in the clear.
    requireTLS: login !== null && reachOf(connection.remoteAddress ?? '') === 'public',
    getSocket: (_options, give) => give(null, { connection }),
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(login && { auth: login }),
  }
  return createTransport(options).sendMail({ from, to: [...to], subject, text, html, messageId, headers, signal })
}

const Refusals = z.array(z.object({ responseCode: z.int().optional() })).default([])
const Sent = z.object({ accepted: z.array(z.unknown()).default([]), rejectedErrors: Refusals })

/** What was taken for some and not for others. Those who have it twice see it once, for its id is the same. */
const afterwards = (info: unknown): SendResult => {
  const { accepted, rejectedErrors: refused } = Sent.parse(info)
  if (refused.length === 0) return { kind: 'ok' }
  const later = refused.find(({ responseCode }) => responseCode !== undefined && responseCode < 500)
  if (later) return { kind: 'retry', reason: `answered ${later.responseCode} for a recipient`, mayHaveArrived: true }
  return { kind: 'ok', remark: `refused for ${refused.length} of ${accepted.length + refused.length} recipients` }
}

/** Of the errors of the client and of sockets, which bear a code, what says nothing of the server or of us. */
const Failure = z.object({
  code: z.string(),
  responseCode: z.int().optional().catch(undefined),
})

/** It does not log us in, or does not begin with TLS. */
const setUp: ReadonlySet<string> = new Set(['EAUTH', 'ETLS'])
/** Who we are was not believed, or has to be said. */
const login: ReadonlySet<number> = new Set([530, 534, 535, 538])

const judgeSmtp = ({ code, responseCode }: z.output<typeof Failure>): SendResult => {
  if (responseCode !== undefined) {
    const reason = `answered ${responseCode}`
    if (responseCode < 500) return { kind: 'retry', reason }
    return setUp.has(code) || login.has(responseCode) ? { kind: 'config', reason } : { kind: 'permanent', reason }
  }
  if (code === 'EAUTH') return { kind: 'config', reason: 'offers no way to log in' }
  // Whether the text had been handed over by then nobody says.
  return { kind: 'retry', reason: `broke off (${code})`, mayHaveArrived: true }
}
