import type { Call } from '#proto/call.ts'
import type { Finding } from '#proto/finding.ts'
import type { Gateway } from '../gateway.ts'

/** How long their owners may take to say what they remember; a list of hosts waits no longer. */
const answerWithinMs = 1_000

/** What is worst about each host, by its key, and who said so: an owner that does not answer is left out. */
export interface WorstFindings {
  of: ReadonlyMap<string, Finding>
  toldBy: string[]
}

/** Asks everybody who finds something wrong with hosts. */
export const worstFindings = async (gateway: Gateway, call: Call): Promise<WorstFindings> => {
  const deadline = Math.min(call.deadline, gateway.clock.elapsedMs() + answerWithinMs)
  const owners = { 'alert-dispatcher': gateway.alerts, report: gateway.report }
  const told = await Promise.all(
    Object.entries(owners).map(async ([owner, client]) => {
      try {
        return { owner, findings: await client.worstFindings({}, { ...call, deadline }) }
      } catch (error) {
        gateway.telemetry.log.debug({ err: error, owner }, 'findings are not known')
        return undefined
      }
    }),
  )
  const answers = told.flatMap((answer) => answer ?? [])
  const all = answers.flatMap(({ findings }) => findings)
  // Critical ones come last, where they replace what a host had before.
  const worstLast = [...all.filter(isWarning), ...all.filter((finding) => !isWarning(finding))]
  const of = new Map(worstLast.map(({ hostKey, severity, title }) => [hostKey, { severity, title }]))
  return { of, toldBy: answers.map(({ owner }) => owner) }
}

const isWarning = ({ severity }: Finding): boolean => severity === 'warning'
