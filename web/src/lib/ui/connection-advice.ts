import type { ConnectionTestResult } from '#lib/api/connections.ts'
import { RequestFailure, getFailureMessage } from '#lib/api/failure.ts'

type Reason = Extract<ConnectionTestResult, { ok: false }>['reason']

/** Returns troubleshooting advice for a failed connection; an empty text if the error message is sufficient. */
export const getConnectionAdvice = (reason: Reason, url: string): string => {
  const isSecure = url.startsWith('https:')
  switch (reason) {
    case 'unreachable':
      return isSecure
        ? 'Check the host, the port, and that the service can reach them. The server must use TLS with a certificate for this name; without TLS, use http://.'
        : 'Check the host, the port, and that the service can reach them. The HTTP interface uses port 8123; port 9000 is the native protocol.'
    case 'timeout':
      return 'A firewall may drop the packets, or the server is overloaded.'
    case 'refused':
      return 'Check the user and the password, and that the user may connect from the address of this service.'
    case 'garbage':
      return `Check the port${isSecure ? '' : '; for TLS, use https://'}.`
    default:
      return ''
  }
}

/** The displayed result of a connection test. */
export interface ConnectionTestOutcome {
  isGood: boolean
  message: string
  advice: string
}

export const toTestOutcome = (tested: ConnectionTestResult, url: string): ConnectionTestOutcome =>
  tested.ok
    ? { isGood: true, message: `Connected: ClickHouse ${tested.version}, ${tested.hostname}.`, advice: '' }
    : { isGood: false, message: tested.message, advice: getConnectionAdvice(tested.reason, url) }

/** Returns the outcome of a request that failed, for example because the service rejected the address. */
export const toRejectionOutcome = (thrown: unknown): ConnectionTestOutcome => {
  const [problem] = thrown instanceof RequestFailure ? problemsOf(thrown) : []
  if (problem?.parameter !== 'url') return { isGood: false, message: getFailureMessage(thrown), advice: '' }
  const isForbidden = problem.message.startsWith('is not an address')
  return {
    isGood: false,
    message: `The URL ${problem.message}`,
    advice: isForbidden
      ? 'The name does not resolve, or it resolves to a private network. An administrator can allow private addresses with SVC_ALLOW_PRIVATE_HOSTS=true.'
      : '',
  }
}

interface Problem {
  parameter: string
  message: string
}

const problemsOf = ({ details }: RequestFailure): Problem[] => {
  const { problems } = details
  return (Array.isArray(problems) ? problems : []).filter(
    (problem: Partial<Problem> | null): problem is Problem =>
      typeof problem?.parameter === 'string' && typeof problem.message === 'string',
  )
}
