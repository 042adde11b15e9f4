import { z } from 'zod'
import { ApprovalId, type ControlWish } from '#proto/agent.ts'
import { requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { ActionRequest } from '#proto/http/actions.ts'
import { ApprovalAnswer, ApprovalRequest, EgressAnswer } from '#proto/http/agent.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { carryOut } from './actions.ts'
import type { Gateway } from '../gateway.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/envelope.ts'
import { postRoute, type Route } from '../http-route.ts'

const ApprovalPath = z.object({ id: ApprovalId })

const decideApproval = postRoute({
  path: '/api/v1/agent/approvals/{id}',
  doc: 'Approves or refuses what an answer wishes to have done to a host; what is approved is done at once, in the name of who approves',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: ApprovalRequest,
  answer: ApprovalAnswer,
  handle: async ({ path, body: { approved }, call, requestId }, gateway) => {
    requireFeature(call.identity, 'AGENT', 'the agent')
    const { id: approvalId } = parse(ApprovalPath, path)
    const { agent, telemetry } = gateway
    if (!approved) {
      await agent.settleApproval({ approvalId, outcome: { state: 'denied' } }, call)
      return success(null, { approved })
    }
    const wish = await agent.takeApproval({ approvalId }, call)
    const tell = (outcome: Outcome) =>
      agent.settleApproval({ approvalId, outcome }, call).catch((error: unknown) => {
        // What is done is done, whether or not anybody is left to hear of it.
        telemetry.log.warn({ requestId, err: error }, 'an answer did not hear what came of its wish')
      })
    try {
      const host = await hostOf(gateway, wish.hostKey)
      const result = await carryOut(gateway, host, actionOf(wish), { call, requestId, origin: { approvalId } })
      await tell({ state: 'done', result })
      return success(result, { approved })
    } catch (error) {
      const message = error instanceof ServiceError ? error.message : 'something failed on our side'
      await tell({ state: 'failed', message })
      throw error
    }
  },
})

type Outcome = Parameters<Gateway['agent']['settleApproval']>[0]['outcome']

/** The host that a wish is about, as whoever approves it may reach it. */
const hostOf = async ({ hosts }: Gateway, hostKey: string): Promise<Host> => {
  const host = (await hosts.all()).find(({ key }) => key === hostKey)
  // Found once more by its number, since a connection of the caller's own goes along only then.
  if (host) return hosts.find(host.id)
  throw new ServiceError('not-found', 'the host of this wish is not there any more')
}

const actionOf = ({ tool, input }: ControlWish): ActionRequest => {
  if (tool === 'kill_query') return { action: 'killQuery', params: input }
  if (tool === 'kill_mutation') return { action: 'killMutation', params: input }
  return { action: 'optimizeTable', params: input }
}

/** Nothing of a host changes, so whoever may ask the agent may decide. */
const decideEgress = postRoute({
  path: '/api/v1/agent/egress/{id}',
  doc: 'Approves or denies a call of an answer that sends its arguments to an external server; 403 for API keys',
  feature: 'AGENT',
  access: 'write',
  guests: true,
  limit: 'data',
  query: noQuery,
  body: ApprovalRequest,
  answer: EgressAnswer,
  handle: async ({ path, body: { approved }, call }, { agent }) => {
    const { id: approvalId } = parse(ApprovalPath, path)
    await agent.decideEgress({ approvalId, approved }, call)
    return success(null, { approved })
  },
})

export const agentApprovalRoutes: readonly Route[] = [decideApproval, decideEgress]
