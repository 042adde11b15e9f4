import type { RequestSender } from '#shared/net/net.ts'
import type { SendResult } from '../channel.ts'
import { sendChannelRequest } from '../channel-request.ts'
import { formatMailAddress, type Mail, type MailProvider } from './mail.ts'

const apis = { us: 'https://api.mailgun.net', eu: 'https://api.eu.mailgun.net' } as const

/**
 * Sends through Mailgun, which does not deduplicate. Mail clients show repeated mails once, because the message id is
 * the same.
 */
export const sendByMailgun = async (
  { key, domain, region }: Extract<MailProvider, { kind: 'mail-api-a' }>,
  mail: Mail,
  way: RequestSender,
): Promise<SendResult> => {
  const form = new FormData()
  form.set('from', formatMailAddress(mail.from))
  for (const to of mail.to) form.append('to', formatMailAddress(to))
  form.set('subject', mail.subject)
  form.set('text', mail.text)
  form.set('html', mail.html)
  form.set('h:Message-Id', mail.messageId)
  for (const [name, value] of Object.entries(mail.headers)) form.set(`h:${name}`, value)
  form.set('o:tag', mail.severity)
  const encoded = new Response(form)
  return sendChannelRequest(way, {
    url: `${apis[region]}/v3/${domain}/messages`,
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': encoded.headers.get('content-type') ?? '',
    },
    body: new Uint8Array(await encoded.arrayBuffer()),
  })
}
