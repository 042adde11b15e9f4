import { flag, read, type Setting } from '#shared/config/setting.ts'
import type { Dial } from '#shared/net/dial.ts'
import type { Send } from '#shared/net/net.ts'
import { severityFloor } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { type Address, readAddress, type Mail, mailOf, type Provider, readProvider } from './mail/mail.ts'
import { sendByMailApiA } from './mail/mail-api-a.ts'
import { sendByMailApiB } from './mail/mail-api-b.ts'
import { sendBySmtp } from './mail/smtp.ts'
import { recipients } from './setting-shapes.ts'

const providerForms =
  'mail-api-a://KEY@DOMAIN, mail-api-b://KEY, smtp://USER:PASSWORD@HOST:PORT or smtps://USER:PASSWORD@HOST:PORT'

const provider: Setting<Provider | undefined> = {
  doc: 'Who carries mail with alerts: Mailgun (with ?region=eu in Europe), Resend, or a mail server.',
  audience: 'secret',
  fallback: 'none',
  allowed: providerForms,
  parse: (given) => {
    const known = given === undefined ? undefined : readProvider(given)
    if (given !== undefined && !known) throw new Error(`must be ${providerForms}`)
    return known
  },
}

const sender: Setting<Address | undefined> = {
  doc: 'Who mail with alerts comes from.',
  audience: 'server',
  fallback: 'none',
  allowed: 'address such as alerts@example.com or Alerts <alerts@example.com>',
  parse: (given) => {
    const address = given === undefined ? undefined : readAddress(given)
    if (given !== undefined && !address) throw new Error('must be an address such as Alerts <alerts@example.com>')
    return address
  },
}

const to = recipients({
  doc: 'Who gets mail with alerts.',
  are: 'addresses such as team@example.com',
  // What the least of the carriers takes.
  most: 50,
  readOne: readAddress,
})

const settings = {
  HEALTH_ALERT_EMAIL_PROVIDER_URL: provider,
  HEALTH_ALERT_EMAIL_FROM: sender,
  HEALTH_ALERT_EMAIL_TO: to.strict,
  HEALTH_ALERT_EMAIL_ENABLED: flag(true, 'Whether alerts go out by mail.'),
  HEALTH_ALERT_EMAIL_MIN_SEVERITY: severityFloor('Least severity that goes out by mail.'),
} as const

const readSettings = { ...settings, HEALTH_ALERT_EMAIL_TO: to.sound }

/**
 * Mail, by whichever carrier the provider's URL names.
 * A message that is sent twice is shown twice, but for Resend; a recovery is a mail in the same thread.
 */
export const email: Channel = {
  id: 'email',
  words: { name: 'Mail', doc: 'By the carrier that the provider’s URL names, such as smtps://user:password@host.' },
  settings,
  address: 'HEALTH_ALERT_EMAIL_PROVIDER_URL',
  isPaging: false,
  announces: true,
  limits: { concurrency: 2, perSecond: 2, burst: 10, groupAfter: 3 },
  targets(env) {
    const given = read(readSettings, env)
    const { HEALTH_ALERT_EMAIL_PROVIDER_URL: carrier, HEALTH_ALERT_EMAIL_FROM: from } = given
    const everybody = given.HEALTH_ALERT_EMAIL_TO
    if (carrier === undefined || from === undefined || everybody.length === 0) return []
    return [
      {
        id: 'default',
        name: 'email',
        isEnabled: given.HEALTH_ALERT_EMAIL_ENABLED,
        minSeverity: given.HEALTH_ALERT_EMAIL_MIN_SEVERITY ?? null,
        send: (message, way, dial) => carry(carrier, mailOf(message, { from, to: everybody }), { way, dial }),
      },
    ]
  },
}

const carry = (carrier: Provider, mail: Mail, { way, dial }: { way: Send; dial: Dial }): Promise<SendResult> => {
  switch (carrier.kind) {
    case 'mail-api-a':
      return sendByMailApiA(carrier, mail, way)
    case 'mail-api-b':
      return sendByMailApiB(carrier, mail, way)
    case 'smtp':
      return sendBySmtp(carrier, mail, dial)
  }
}
