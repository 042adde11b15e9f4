import { z } from 'zod'
import type { Send } from '#shared/net/net.ts'
import type { SendResult } from '../channel.ts'
import { type Answer, exchange } from '../channel-request.ts'
import { writeAddress, type Mail, type Provider } from './mail.ts'

/** Resend. The same key within a day sends nothing twice. */
export const sendByMailApiB = (
  { key }: Extract<Provider, { kind: 'mail-api-b' }>,
  { from, to, subject, text, html, messageId, headers, severity }: Mail,
  way: Send,
): Promise<SendResult> =>
  exchange(way, {
    url: 'https://api.resend.com/emails',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': messageId.replaceAll(/[<>]/g, ''),
    },
    body: JSON.stringify({
      from: writeAddress(from),
      to: to.map(writeAddress),
      subject,
      text,
      html,
      headers,
      tags: [{ name: 'severity', value: severity }],
    }),
    judge,
  })

const Refusal = z.object({ name: z.string() })

/** What it was sent before under the same key it has taken, even when the link has changed since. */
const judge = ({ status, body }: Answer): SendResult | undefined => {
  if (status !== 409) return undefined
  const refusal = Refusal.safeParse(body).data?.name
  return refusal === 'invalid_idempotent_request' ? { kind: 'ok' } : { kind: 'retry', reason: 'answered 409' }
}
