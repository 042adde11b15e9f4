import type { Tested } from '#lib/api/connections.ts'

type Reason = Extract<Tested, { ok: false }>['reason']

/** What somebody may look at when an address gives no answer; empty where the failure says it all. */
export const connectionAdvice = (reason: Reason, url: string): string => {
  const isSecure = url.startsWith('https:')
  switch (reason) {
    case 'unreachable':
      return isSecure
        ? 'Check host and port, that this service may reach them, and that TLS is spoken there with a certificate for this name: without TLS the address begins with http://.'
        : 'Check host and port, and that this service may reach them. Port 9000 is for native clients; the HTTP interface is 8123.'
    case 'timeout':
      return 'A firewall may drop what is sent there, or the server is overloaded.'
    case 'refused':
      return 'Check user and password, and that the user may connect from where this service runs.'
    case 'garbage':
      return `Check the port${isSecure ? '' : '; with TLS the address begins with https://'}.`
    default:
      return ''
  }
}
