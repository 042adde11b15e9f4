import { flagSetting, parseSettings, type Setting } from '#shared/config/setting.ts'
import type { Dialer } from '#shared/net/dial.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import {
  type MailAddress,
  parseMailAddress,
  type Mail,
  renderMail,
  type MailProvider,
  parseMailProvider,
} from './mail/mail.ts'
import { sendByMailgun } from './mail/mail-api-a.ts'
import { sendByResend } from './mail/mail-api-b.ts'
import { sendBySmtp } from './mail/smtp.ts'
import { createRecipientsSetting } from './setting-types.ts'

const providerForms =
  'mail-api-a://KEY@DOMAIN, mail-api-b://KEY, smtp://USER:PASSWORD@HOST:PORT or smtps://USER:PASSWORD@HOST:PORT'

const providerSetting: Setting<MailProvider | undefined> = {
  doc: 'Mail provider for alerts: Mailgun (with ?region=eu in Europe), Resend, or an SMTP server.',
  audience: 'secret',
  fallback: 'none',
  allowed: providerForms,
  parse: (values) => {
    const known = values === undefined ? undefined : parseMailProvider(values)
    if (values !== undefined && !known) throw new Error(`must be ${providerForms}`)
    return known
  },
}

const senderSetting: Setting<MailAddress | undefined> = {
  doc: 'Sender address of alert mails.',
  audience: 'server',
  fallback: 'none',
  allowed: 'address such as alerts@example.com or Alerts <alerts@example.com>',
  parse: (values) => {
    const address = values === undefined ? undefined : parseMailAddress(values)
    if (values !== undefined && !address) throw new Error('must be an address such as Alerts <alerts@example.com>')
    return address
  },
}

const to = createRecipientsSetting({
  doc: 'Recipients of alert mails.',
  are: 'addresses such as team@example.com',
  // The lowest recipient limit of all supported providers.
  maxCount: 50,
  readOne: parseMailAddress,
})

const settings = {
  HEALTH_ALERT_EMAIL_PROVIDER_URL: providerSetting,
  HEALTH_ALERT_EMAIL_FROM: senderSetting,
  HEALTH_ALERT_EMAIL_TO: to.strict,
  HEALTH_ALERT_EMAIL_ENABLED: flagSetting(true, 'Whether alerts are sent by email.'),
  HEALTH_ALERT_EMAIL_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for email.'),
} as const

const readSettings = { ...settings, HEALTH_ALERT_EMAIL_TO: to.valid }

/**
 * Sends mails through the provider in the URL. Only Resend discards a mail that is sent twice. A recovery is a mail in
 * the same thread.
 */
export const emailChannel: Channel = {
  id: 'email',
  words: { name: 'Mail', doc: 'Sends through Mailgun, Resend or an SMTP server, such as smtps://user:password@host.' },
  settings,
  address: 'HEALTH_ALERT_EMAIL_PROVIDER_URL',
  isPaging: false,
  announces: true,
  limits: { concurrency: 2, perSecond: 2, burst: 10, groupAfter: 3 },
  targets(env) {
    const values = parseSettings(readSettings, env)
    const { HEALTH_ALERT_EMAIL_PROVIDER_URL: carrier, HEALTH_ALERT_EMAIL_FROM: from } = values
    const recipientList = values.HEALTH_ALERT_EMAIL_TO
    if (carrier === undefined || from === undefined || recipientList.length === 0) return []
    return [
      {
        id: 'default',
        name: 'email',
        isEnabled: values.HEALTH_ALERT_EMAIL_ENABLED,
        minSeverity: values.HEALTH_ALERT_EMAIL_MIN_SEVERITY ?? null,
        send: (message, way, dial) =>
          sendMail(carrier, renderMail(message, { from, to: recipientList }), { way, dial }),
      },
    ]
  },
}

const sendMail = (
  carrier: MailProvider,
  mail: Mail,
  { way, dial }: { way: RequestSender; dial: Dialer },
): Promise<SendResult> => {
  switch (carrier.kind) {
    case 'mail-api-a':
      return sendByMailgun(carrier, mail, way)
    case 'mail-api-b':
      return sendByResend(carrier, mail, way)
    case 'smtp':
      return sendBySmtp(carrier, mail, dial)
  }
}
