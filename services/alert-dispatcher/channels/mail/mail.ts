import { hash } from 'node:crypto'
import type { Severity } from '#proto/rules.ts'
import { cut } from '../../delivery/cut.ts'
import { type Message, plainText } from '../../delivery/message.ts'
import type { Address } from './address.ts'
import { htmlOf } from './html.ts'

/** A mail, before any carrier gives it its own form. No text in it but the two bodies has line breaks. */
export interface Mail {
  from: Address
  to: readonly Address[]
  subject: string
  text: string
  html: string
  /** In angle brackets, and the same whenever the same notice is sent again. */
  messageId: string
  /** Headers beyond those of every mail. */
  headers: Readonly<Record<string, string>>
  severity: Severity
}

/** A longer subject is cut by those who show it. */
const maxSubject = 200
const maxText = 100_000

/** What a message is as a mail. Mails about one episode hang together, whichever of them is the first to arrive. */
export const mailOf = (message: Message, { from, to }: Pick<Mail, 'from' | 'to'>): Mail => {
  const { notice, origin, headline, severity } = message
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  const thread = hash('sha256', `${origin} ${notice.episode}`).slice(0, 32)
  const root = `<${thread}@${domain}>`
  return {
    from,
    to,
    subject: cut(headline, maxSubject),
    text: `${plainText(message, maxText)}\n\n-- \n${origin}\n`,
    html: htmlOf(message),
    messageId: `<${thread}.${notice.sequence}@${domain}>`,
    headers: {
      'In-Reply-To': root,
      References: root,
      // Nobody who is away need answer.
      'Auto-Submitted': 'auto-generated',
      'X-Watchhouse-Installation': origin,
      // Whom to ask: recipients are the operator's choice.
      ...(notice.kind === 'notify' && { 'List-Unsubscribe': `<mailto:${from.address}?subject=unsubscribe>` }),
    },
    severity,
  }
}
