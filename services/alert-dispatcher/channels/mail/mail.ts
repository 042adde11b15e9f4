import { hash } from 'node:crypto'
import type { Severity } from '#proto/rules.ts'
import { type Message, toPlainText, type MessageFact } from '../../messages/message.ts'
import { truncateText, escapeHtml } from '../../messages/text.ts'
import { decodeUrlPart, type UrlCredentials, parseUrlCredentials } from '../channel-request.ts'

/** A mail, before a provider formats it. Only the two bodies contain line breaks. */
export interface Mail {
  from: MailAddress
  to: readonly MailAddress[]
  subject: string
  text: string
  html: string
  /** The id in angle brackets. A notification that is sent again has the same id. */
  messageId: string
  /** Additional headers. */
  headers: Readonly<Record<string, string>>
  severity: Severity
}

/** Mail clients cut longer subjects. */
const maxSubject = 200
const maxText = 100_000

/** Renders a message as a mail. Mails of one episode form a thread, in any order of arrival. */
export const renderMail = (message: Message, { from, to }: Pick<Mail, 'from' | 'to'>): Mail => {
  const { notification, origin, headline, severity } = message
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  const thread = hash('sha256', `${origin} ${notification.episode}`).slice(0, 32)
  const root = `<${thread}@${domain}>`
  return {
    from,
    to,
    subject: truncateText(headline, maxSubject),
    text: `${toPlainText(message, maxText)}\n\n-- \n${origin}\n`,
    html: renderHtml(message),
    messageId: `<${thread}.${notification.sequence}@${domain}>`,
    headers: {
      'In-Reply-To': root,
      References: root,
      // Suppresses automatic replies.
      'Auto-Submitted': 'auto-generated',
      'X-Watchhouse-Installation': origin,
      // Only the operator can change the recipients, so unsubscribing sends a mail to the sender address.
      ...(notification.kind === 'notify' && { 'List-Unsubscribe': `<mailto:${from.address}?subject=unsubscribe>` }),
    },
    severity,
  }
}

/** A sender or recipient. */
export interface MailAddress {
  /** The display name; empty if there is none. */
  name: string
  address: string
}

const addressPattern = String.raw`[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[\p{L}\p{N}.-]{1,253}`
const mailAddressPattern = new RegExp(
  String.raw`^(?:(?<name>[^<>"\\,\p{Cc}\u2028\u2029]{0,100})<(?<named>${addressPattern})>|(?<alone>${addressPattern}))$`,
  'u',
)

/** Parses `a@b.example` or `Name <a@b.example>`; undefined for anything else, especially line breaks. */
export const parseMailAddress = (text: string): MailAddress | undefined => {
  const { name = '', named, alone } = mailAddressPattern.exec(text.trim())?.groups ?? {}
  const address = named ?? alone
  return address === undefined ? undefined : { name: name.trim(), address }
}

/** Formats an address for a header; the name contains neither quotes nor backslashes. */
export const formatMailAddress = ({ name, address }: MailAddress): string =>
  name === '' ? address : `"${name}" <${address}>`

const colors = { warning: '#b45309', critical: '#b91c1c', over: '#15803d', plain: '#111827' } as const

/** Renders the message as HTML with inline styles only and without external content. */
const renderHtml = ({ headline, facts, gathered, runbook, url, origin, tone }: Message): string =>
  [
    '<!doctype html><html><body style="font-family:sans-serif;font-size:14px;color:#111827">',
    `<h2 style="font-size:18px;color:${colors[tone]}">${escapeHtml(headline)}</h2>`,
    url === null ? '' : `<p><a href="${escapeHtml(url)}">Open in Watchhouse</a></p>`,
    `<table style="border-collapse:collapse">${facts.map(renderRow).join('')}</table>`,
    gathered.length === 0 ? '' : `<ul>${gathered.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`,
    runbook === '' ? '' : `<p style="white-space:pre-wrap">${escapeHtml(runbook)}</p>`,
    `<p style="font-size:12px;color:#6b7280">${escapeHtml(origin)}</p>`,
    '</body></html>',
  ]
    .filter((part) => part !== '')
    .join('\n')

const renderRow = ({ label, value }: MessageFact): string =>
  `<tr><td style="padding:2px 16px 2px 0;color:#6b7280">${escapeHtml(label)}</td><td>${escapeHtml(value)}</td></tr>`

/** The mail provider, as its secret URL defines it. */
export type MailProvider =
  | { kind: 'mail-api-a'; key: string; domain: string; region: 'us' | 'eu' }
  | { kind: 'mail-api-b'; key: string }
  | SmtpServer

/** An SMTP server. */
export interface SmtpServer {
  kind: 'smtp'
  /** Host name or IP address; IPv6 without brackets. */
  host: string
  port: number
  /** Whether the connection starts with TLS; otherwise STARTTLS is used. */
  isSecure: boolean
  /** Null if the server requires no login. */
  login: UrlCredentials | null
}

/** Parses the URL of a provider; undefined for an unknown scheme or missing parts. */
export const parseMailProvider = (text: string): MailProvider | undefined => {
  if (!URL.canParse(text.trim())) return undefined
  const url = new URL(text.trim())
  const login = parseUrlCredentials(url)
  switch (url.protocol) {
    case 'mail-api-a:': {
      const region = url.searchParams.get('region') ?? 'us'
      const isWhole = login.user !== '' && /^[A-Za-z0-9.-]+$/.test(url.hostname) && (region === 'us' || region === 'eu')
      return isWhole ? { kind: 'mail-api-a', key: login.user, domain: url.hostname, region } : undefined
    }
    case 'mail-api-b:':
      return url.hostname === '' ? undefined : { kind: 'mail-api-b', key: decodeUrlPart(url.hostname) }
    case 'smtp:':
    case 'smtps:':
      return parseSmtpServer(url, login)
    default:
      return undefined
  }
}

const parseSmtpServer = (url: URL, login: UrlCredentials): SmtpServer | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isSecure = url.protocol === 'smtps:'
  // Ports for mail submission (RFC 8314).
  const port = Number(url.port || (isSecure ? 465 : 587))
  if (host === '' || port === 0) return undefined
  return { kind: 'smtp', host, port, isSecure, login: login.user === '' ? null : login }
}
