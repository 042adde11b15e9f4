import type { agent } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { getRunOwner, type Run } from '../runs/run.ts'

/** The decision of a person; `expired` if there was no decision in time. */
type EgressDecision = 'approved' | 'denied' | 'expired'

/** The calls to external servers that wait for a person to approve them. */
export interface EgressRequests {
  /** Opens a request. It expires when the run ends. */
  open(run: Run): { id: string; decision: Promise<EgressDecision> }
  /**
   * Records the decision on a request. Throws `gone` if it is decided or expired or belongs to another user, and
   * `forbidden` for API keys and services.
   */
  decide(id: string, identity: Identity, isApproved: boolean): void
}

/** How long a request waits for a decision. */
export const egressDecisionTimeoutMs = 5 * 60_000

/** Maximum request number. The numbers start at 1 again after it. */
const maxRequestNumber = 9_999

export const openEgressRequests = (openMs: number = egressDecisionTimeoutMs): EgressRequests => {
  const waiting = new Map<string, { owner: string; end(decision: EgressDecision): void }>()
  let opened = 0
  return {
    open(run) {
      opened = (opened % maxRequestNumber) + 1
      const id = `${run.id}.${opened}`
      // An aborted signal does not emit `abort` again.
      if (run.signal.aborted) return { id, decision: Promise.resolve('expired') }
      const { promise, resolve } = Promise.withResolvers<EgressDecision>()
      const end = (decision: EgressDecision): void => {
        clearTimeout(timer)
        run.signal.removeEventListener('abort', expire)
        waiting.delete(id)
        resolve(decision)
      }
      const expire = () => end('expired')
      const timer = setTimeout(expire, openMs)
      run.signal.addEventListener('abort', expire, { once: true })
      waiting.set(id, { owner: run.owner, end })
      return { id, decision: promise }
    },
    decide(id, identity, isApproved) {
      if (!isPerson(identity)) throw new ServiceError('forbidden', 'an API key cannot approve this; sign in to decide')
      const request = waiting.get(id)
      if (request?.owner !== getRunOwner(identity)) throw new ServiceError('gone', 'this request is no longer open')
      request.end(isApproved ? 'approved' : 'denied')
    },
  }
}

/** Returns whether a person can be the caller: never for services, and for API keys only within a browser session. */
export const isPerson = ({ kind, isBrowserSession }: Identity): boolean =>
  kind === 'key' ? isBrowserSession === true : kind !== 'service'

export const decideEgress =
  ({ egress }: { egress: EgressRequests }): ServiceHandlers<typeof agent>['decideEgress'] =>
  async ({ approvalId, approved }, { identity }) => {
    egress.decide(approvalId, identity, approved)
    return {}
  }
