import type { Tested } from '#lib/api/connections.ts'
import { RequestFailure, failureMessage } from '#lib/api/failure.ts'

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

/** What came of an attempt with an address, to be shown: that it works, or why not with what may be looked at. */
export interface Outcome {
  isGood: boolean
  message: string
  advice: string
}

export const outcomeOf = (tested: Tested, url: string): Outcome =>
  tested.ok
    ? { isGood: true, message: `It answers: ClickHouse ${tested.version}, ${tested.hostname}.`, advice: '' }
    : { isGood: false, message: tested.message, advice: connectionAdvice(tested.reason, url) }

/** What the service would not even try: of the address it says only what is wrong with it. */
export const refusal = (thrown: unknown): Outcome => {
  const [problem] = thrown instanceof RequestFailure ? problemsOf(thrown) : []
  if (problem?.parameter !== 'url') return { isGood: false, message: failureMessage(thrown), advice: '' }
  const isNowhere = problem.message.startsWith('leads nowhere')
  return {
    isGood: false,
    message: `The address ${problem.message}`,
    advice: isNowhere
      ? 'Either nobody knows this name here, or it leads into a private network: whoever runs this installation may open those with SVC_ALLOW_PRIVATE_HOSTS.'
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
