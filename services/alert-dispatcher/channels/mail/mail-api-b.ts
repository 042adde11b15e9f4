import { z } from 'zod'
import type { RequestSender } from '#shared/net/net.ts'
import type { SendResult } from '../channel.ts'
import { type ChannelResponse, sendChannelRequest } from '../channel-request.ts'
import { formatMailAddress, type Mail, type MailProvider } from './mail.ts'

/** Sends through Resend, which drops repeated mails with the same key for a day. */
export const sendByResend = (
  { key }: Extract<MailProvider, { kind: 'mail-api-b' }>,
  { from, to, subject, text, html, messageId, headers, severity }: Mail,
  way: RequestSender,
): Promise<SendResult> =>
  sendChannelRequest(way, {
    url: 'https://api.resend.com/emails',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': messageId.replaceAll(/[<>]/g, ''),
    },
    body: JSON.stringify({
      from: formatMailAddress(from),
      to: to.map(formatMailAddress),
      subject,
      text,
      html,
      headers,
      tags: [{ name: 'severity', value: severity }],
    }),
    classify,
  })

const Refusal = z.object({ name: z.string() })

/** Classifies status 409: `ok` if the key was used with another text, because the mail was sent; else `retry`. */
const classify = ({ status, body }: ChannelResponse): SendResult | undefined => {
  if (status !== 409) return undefined
  const refusal = Refusal.safeParse(body).data?.name
  return refusal === 'invalid_idempotent_request' ? { kind: 'ok' } : { kind: 'retry', reason: 'HTTP 409' }
}
