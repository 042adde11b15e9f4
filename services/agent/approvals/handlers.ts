import type { agent } from '#proto/agent.ts'
import type { Handlers } from '#proto/contract.ts'
import type { Parts } from '../parts.ts'

export const takeApproval =
  ({ wishes }: Parts): Handlers<typeof agent>['takeApproval'] =>
  async ({ approvalId }, { identity }) =>
    wishes.take(approvalId, identity)

export const settleApproval =
  ({ wishes }: Parts): Handlers<typeof agent>['settleApproval'] =>
  async ({ approvalId, outcome }, { identity }) => {
    wishes.settle(approvalId, identity, outcome)
    return {}
  }

export const decideEgress =
  ({ egress }: Parts): Handlers<typeof agent>['decideEgress'] =>
  async ({ approvalId, approved }, { identity }) => {
    egress.decide(approvalId, identity, approved)
    return {}
  }
