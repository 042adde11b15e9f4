import type { Send } from '#shared/net/net.ts'
import type { SendResult } from '../channel.ts'
import { exchange } from '../channel-request.ts'
import { writeAddress, type Mail, type Provider } from './mail.ts'

const apis = { us: 'https://api.mailgun.net', eu: 'https://api.eu.mailgun.net' } as const

/** Mailgun. It sends again what it is given again: the message id lets mail programs show it once. */
export const sendByMailApiA = async (
  { key, domain, region }: Extract<Provider, { kind: 'mail-api-a' }>,
  mail: Mail,
  way: Send,
): Promise<SendResult> => {
  const form = new FormData()
  form.set('from', writeAddress(mail.from))
  for (const to of mail.to) form.append('to', writeAddress(to))
  form.set('subject', mail.subject)
  form.set('text', mail.text)
  form.set('html', mail.html)
  form.set('h:Message-Id', mail.messageId)
  for (const [name, value] of Object.entries(mail.headers)) form.set(`h:${name}`, value)
  form.set('o:tag', mail.severity)
  const encoded = new Response(form)
  return exchange(way, {
    url: `${apis[region]}/v3/${domain}/messages`,
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': encoded.headers.get('content-type') ?? '',
    },
    body: new Uint8Array(await encoded.arrayBuffer()),
  })
}
