import { hash } from 'node:crypto'
import type { Severity } from '#proto/rules.ts'
import { type Message, plainText, type Fact } from '../../messages/message.ts'
import { cut, escapeHtml } from '../../messages/text.ts'
import { decoded, type Login, loginIn } from '../channel-request.ts'

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

/** Somebody who gets or sends mail. */
export interface Address {
  /** Empty where there is none. */
  name: string
  address: string
}

const bare = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[\p{L}\p{N}.-]{1,253}`
const shape = new RegExp(
  String.raw`^(?:(?<name>[^<>"\\,\p{Cc}\u2028\u2029]{0,100})<(?<named>${bare})>|(?<alone>${bare}))$`,
  'u',
)

/** Reads `a@b.example` or `Name <a@b.example>`; undefined for anything else, line breaks above all. */
export const readAddress = (text: string): Address | undefined => {
  const { name = '', named, alone } = shape.exec(text.trim())?.groups ?? {}
  const address = named ?? alone
  return address === undefined ? undefined : { name: name.trim(), address }
}

/** As it stands in a header; the name holds neither quotes nor backslashes. */
export const writeAddress = ({ name, address }: Address): string => (name === '' ? address : `"${name}" <${address}>`)

const colors = { warning: '#b45309', critical: '#b91c1c', over: '#15803d', plain: '#111827' } as const

/** The message as a page that mail programs show: no styles but those of an element, and nothing from elsewhere. */
const htmlOf = ({ headline, facts, gathered, runbook, url, origin, tone }: Message): string =>
  [
    '<!doctype html><html><body style="font-family:sans-serif;font-size:14px;color:#111827">',
    `<h2 style="font-size:18px;color:${colors[tone]}">${escapeHtml(headline)}</h2>`,
    url === null ? '' : `<p><a href="${escapeHtml(url)}">Open in Watchhouse</a></p>`,
    `<table style="border-collapse:collapse">${facts.map(rowOf).join('')}</table>`,
    gathered.length === 0 ? '' : `<ul>${gathered.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`,
    runbook === '' ? '' : `<p style="white-space:pre-wrap">${escapeHtml(runbook)}</p>`,
    `<p style="font-size:12px;color:#6b7280">${escapeHtml(origin)}</p>`,
    '</body></html>',
  ]
    .filter((part) => part !== '')
    .join('\n')

const rowOf = ({ label, value }: Fact): string =>
  `<tr><td style="padding:2px 16px 2px 0;color:#6b7280">${escapeHtml(label)}</td><td>${escapeHtml(value)}</td></tr>`

/** Who carries the mail, as the secret URL of the provider says. */
export type Provider =
  | { kind: 'mail-api-a'; key: string; domain: string; region: 'us' | 'eu' }
  | { kind: 'mail-api-b'; key: string }
  | SmtpServer

/** A mail server. */
export interface SmtpServer {
  kind: 'smtp'
  /** A name or an address; IPv6 without brackets. */
  host: string
  port: number
  /** Speaks TLS from the first byte; else it is asked to begin with it. */
  isSecure: boolean
  /** Null where it asks nobody who they are. */
  login: Login | null
}

/** Reads the URL of a provider; undefined for one that nobody knows. */
export const readProvider = (text: string): Provider | undefined => {
  if (!URL.canParse(text.trim())) return undefined
  const url = new URL(text.trim())
  const login = loginIn(url)
  switch (url.protocol) {
    case 'mail-api-a:': {
      const region = url.searchParams.get('region') ?? 'us'
      const isWhole = login.user !== '' && /^[A-Za-z0-9.-]+$/.test(url.hostname) && (region === 'us' || region === 'eu')
      return isWhole ? { kind: 'mail-api-a', key: login.user, domain: url.hostname, region } : undefined
    }
    case 'mail-api-b:':
      return url.hostname === '' ? undefined : { kind: 'mail-api-b', key: decoded(url.hostname) }
    case 'smtp:':
    case 'smtps:':
      return smtpServer(url, login)
    default:
      return undefined
  }
}

const smtpServer = (url: URL, login: Login): SmtpServer | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isSecure = url.protocol === 'smtps:'
  // Where mail is handed in (RFC 8314).
  const port = Number(url.port || (isSecure ? 465 : 587))
  if (host === '' || port === 0) return undefined
  return { kind: 'smtp', host, port, isSecure, login: login.user === '' ? null : login }
}
