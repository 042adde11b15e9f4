import type { SMTPTransportOptions } from 'nodemailer'
import { z } from 'zod'
import { classifyAddress } from '#shared/net/address.ts'
import type { Dialer } from '#shared/net/dial.ts'
import { NetFailure } from '#shared/net/failure.ts'
import { type SendResult, maxSendMs } from '../channel.ts'
import { classifyFailure } from '../channel-request.ts'
import type { Mail, SmtpServer } from './mail.ts'

/** Sends a mail through an SMTP server over a connection from `dial`. */
export const sendBySmtp = async (server: SmtpServer, mail: Mail, dial: Dialer): Promise<SendResult> => {
  const signal = AbortSignal.timeout(maxSendMs)
  try {
    const connection = await dial({ host: server.host, port: server.port }, signal)
    try {
      return classifySent(await submitMail(server, mail, { connection, signal }))
    } catch (error) {
      const failure = Failure.safeParse(error).data
      if (!failure) throw error
      return classifySmtpError(failure)
    } finally {
      connection.destroy()
    }
  } catch (error) {
    if (error instanceof NetFailure) return classifyFailure(error)
    throw error
  }
}

interface SmtpConnection {
  connection: Awaited<ReturnType<Dialer>>
  signal: AbortSignal
}

const submitMail = async (
  { host, port, isSecure, login }: SmtpServer,
  mail: Mail,
  { connection, signal }: SmtpConnection,
) => {
  const { createTransport } = await import('nodemailer')
  const { from, to, subject, text, html, messageId, headers } = mail
  const options: SMTPTransportOptions = {
    host,
    port,
    secure: isSecure,
    // Internal mail servers often lack TLS. To a public address, a password is sent only over TLS.
    requireTLS: login !== null && classifyAddress(connection.remoteAddress ?? '') === 'public',
    getSocket: (_options, give) => give(null, { connection }),
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(login && { auth: login }),
  }
  return createTransport(options).sendMail({ from, to: [...to], subject, text, html, messageId, headers, signal })
}

const Refusals = z.array(z.object({ responseCode: z.int().optional() })).default([])
const Sent = z.object({ accepted: z.array(z.unknown()).default([]), rejectedErrors: Refusals })

/**
 * Classifies a submitted mail. If some recipients can be retried, it is sent again to all with the same message id, so
 * that the others see it once.
 */
const classifySent = (info: unknown): SendResult => {
  const { accepted, rejectedErrors: refused } = Sent.parse(info)
  if (refused.length === 0) return { kind: 'ok' }
  const later = refused.find(({ responseCode }) => responseCode !== undefined && responseCode < 500)
  if (later) return { kind: 'retry', reason: `SMTP ${later.responseCode} for a recipient`, mayHaveArrived: true }
  return { kind: 'ok', remark: `rejected for ${refused.length} of ${accepted.length + refused.length} recipients` }
}

/**
 * Errors of the client and of sockets have a code. The other fields are ignored, because they may contain addresses.
 */
const Failure = z.object({
  code: z.string(),
  responseCode: z.int().optional().catch(undefined),
})

/** Error codes for a failed login and for missing TLS. */
const configCodes: ReadonlySet<string> = new Set(['EAUTH', 'ETLS'])
/** Response codes for missing or rejected credentials. */
const authResponseCodes: ReadonlySet<number> = new Set([530, 534, 535, 538])

const classifySmtpError = ({ code, responseCode }: z.output<typeof Failure>): SendResult => {
  if (responseCode !== undefined) {
    const reason = `SMTP ${responseCode}`
    if (responseCode < 500) return { kind: 'retry', reason }
    return configCodes.has(code) || authResponseCodes.has(responseCode)
      ? { kind: 'config', reason }
      : { kind: 'permanent', reason }
  }
  if (code === 'EAUTH') return { kind: 'config', reason: 'login failed: the server offers no supported method' }
  // The server may have received the mail before the connection was lost.
  return { kind: 'retry', reason: `connection lost (${code})`, mayHaveArrived: true }
}
