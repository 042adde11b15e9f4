import type { HostActionRequest, agent } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { getRunOwner, type Run } from '../runs/run.ts'

/** The outcome of an approval request. `unknown` means that the action was started, but no result was reported. */
export type ApprovalOutcome =
  | { state: 'denied' | 'expired' | 'unknown' }
  | { state: 'done'; result: Record<string, unknown> }
  | { state: 'failed'; message: string }

/** An approval request that waits for a decision. */
interface PendingApproval {
  id: string
  outcome: Promise<ApprovalOutcome>
}

/** The open approval requests of all runs. The gateway takes an approved request and runs it as the approving user. */
export interface ApprovalRequests {
  create(run: Run, request: HostActionRequest): PendingApproval
  /** Marks a request as taken and returns it. Throws `gone` if it is taken, resolved, expired or of another user. */
  take(id: string, identity: Identity): HostActionRequest
  /** Resolves a request. A request that was not taken can only be denied, and a taken one can no longer be denied. */
  resolve(id: string, identity: Identity, outcome: ApprovalOutcome): void
}

interface OpenApprovalRequest {
  owner: string
  request: HostActionRequest
  isTaken: boolean
  /** Restarts the timeout, which resolves the request with `outcome`. */
  wait(forMs: number, outcome: ApprovalOutcome): void
  resolve(outcome: ApprovalOutcome): void
}

/** Timeouts of approval requests; tests shorten them. */
export const approvalTimeouts = {
  /** How long a request waits for a decision. */
  openMs: 5 * 60_000,
  /** How long a taken request waits for its result; longer than the statement timeout. */
  takenMs: 120_000,
} as const

export const openApprovalRequests = (
  limits: { readonly [N in keyof typeof approvalTimeouts]: number } = approvalTimeouts,
): ApprovalRequests => {
  const open = new Map<string, OpenApprovalRequest>()
  let created = 0

  const find = (id: string, identity: Identity): OpenApprovalRequest => {
    const found = open.get(id)
    if (found && found.owner === getRunOwner(identity)) return found
    throw createGoneError('this approval request has expired or does not exist')
  }

  return {
    create(run, request) {
      created = (created % maxRequestNumber) + 1
      const id = `${run.id}.${created}`
      // An aborted signal does not emit `abort` again.
      if (run.signal.aborted) return { id, outcome: Promise.resolve({ state: 'expired' }) }
      const { promise, resolve } = Promise.withResolvers<ApprovalOutcome>()
      const resolveRequest = (outcome: ApprovalOutcome): void => {
        clearTimeout(timer)
        run.signal.removeEventListener('abort', expire)
        open.delete(id)
        resolve(outcome)
      }
      const expire = () => resolveRequest({ state: 'expired' })
      let timer = setTimeout(expire, limits.openMs)
      const wait = (forMs: number, outcomeOnTimeout: ApprovalOutcome): void => {
        clearTimeout(timer)
        timer = setTimeout(() => resolveRequest(outcomeOnTimeout), forMs)
      }
      run.signal.addEventListener('abort', expire, { once: true })
      open.set(id, { owner: run.owner, request, isTaken: false, wait, resolve: resolveRequest })
      return { id, outcome: promise }
    },
    take(id, identity) {
      const found = find(id, identity)
      if (found.isTaken) throw createGoneError('this approval request is already decided')
      found.isTaken = true
      found.wait(limits.takenMs, { state: 'unknown' })
      return found.request
    },
    resolve(id, identity, outcome) {
      const found = find(id, identity)
      if (found.isTaken === (outcome.state === 'denied'))
        throw createGoneError('this approval request is already decided')
      found.resolve(outcome)
    },
  }
}

const maxRequestNumber = 9_999

const createGoneError = (message: string): ServiceError => new ServiceError('gone', message)

export const takeApproval =
  ({ approvalRequests }: { approvalRequests: ApprovalRequests }): ServiceHandlers<typeof agent>['takeApproval'] =>
  async ({ approvalId }, { identity }) =>
    approvalRequests.take(approvalId, identity)

export const resolveApproval =
  ({ approvalRequests }: { approvalRequests: ApprovalRequests }): ServiceHandlers<typeof agent>['resolveApproval'] =>
  async ({ approvalId, outcome }, { identity }) => {
    approvalRequests.resolve(approvalId, identity, outcome)
    return {}
  }
