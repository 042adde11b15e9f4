import { decoded, type Login, loginIn } from '../exchange.ts'

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
