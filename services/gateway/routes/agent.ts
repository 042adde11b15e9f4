import { z } from 'zod'
import { ApprovalId, type HostActionRequest } from '#proto/agent.ts'
import { requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { ActionRequest } from '#proto/http/actions.ts'
import {
  AgentRequest,
  AgentRunPath,
  StopRunResponse,
  ApprovalResponse,
  ApprovalDecisionRequest,
  EgressResponse,
} from '#proto/http/agent.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { identifyAgentCaller } from '../agent/callers.ts'
import { readAgentRequest } from '../agent/read-agent-request.ts'
import { streamRunEvents, type RunPosition } from '../agent/run-events.ts'
import type { Gateway } from '../gateway.ts'
import { type RawRequest, type Route, definePostRoute } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { HttpError } from '../response/http-exchange.ts'
import type { Reply } from '../response/http-reply.ts'
import { runAction } from './actions.ts'

const common = {
  feature: 'AGENT',
  access: 'write',
  guests: true,
  query: noQuery,
  identify: identifyAgentCaller,
} as const
const events = 'text/event-stream'

const startRun: Route = {
  ...common,
  method: 'POST',
  path: '/api/v1/agent',
  doc: 'Starts an agent run and streams its answer as the UI message stream of the AI SDK',
  limit: 'agent',
  reads: { mediaTypes: ['application/json'], schema: AgentRequest },
  mediaType: events,
  answer: z.string(),
  async respond(exchange, gateway, reply) {
    const body = await readAgentRequest(exchange, gateway)
    const runId = await startAgentRun(body, exchange, gateway)
    if (body.id !== undefined) await gateway.chats.store(body.id, exchange.call.identity, runId)
    await sendEvents({ runId, after: 0 }, exchange, gateway, reply)
  },
}

const resumeRun: Route = {
  ...common,
  method: 'GET',
  path: '/api/v1/agent/{id}/stream',
  doc: 'Resumes the event stream of a run by run id or chat id, after the event in Last-Event-ID; 204 when the chat has no recent run',
  limit: 'data',
  mediaType: events,
  answer: z.string(),
  nothing: 'The chat has no recent run.',
  async respond(exchange, gateway, reply) {
    const runId = await runIdOf(exchange, gateway)
    if (runId === undefined) return reply.nothing()
    await sendEvents({ runId, after: lastEventIdOf(exchange) }, exchange, gateway, reply)
  },
}

const stopRun: Route = {
  ...common,
  method: 'POST',
  path: '/api/v1/agent/{id}/stop',
  doc: 'Stops a run by run id or chat id, with its model calls and queries',
  limit: 'data',
  answer: StopRunResponse,
  async respond(exchange, gateway, reply) {
    const runId = await runIdOf(exchange, gateway)
    if (runId === undefined) throw new ServiceError('gone', 'this chat has no recent run; send a new message')
    reply.json(createSuccessBody(await gateway.agent.stop({ runId }, exchange.call), {}))
  },
}

/** Routes of agent runs. */
export const agentRoutes: readonly Route[] = [startRun, resumeRun, stopRun]

const startAgentRun = async (body: AgentRequest, { call }: RawRequest, { agent, hosts }: Gateway): Promise<string> => {
  const host = await hosts.find(body.hostId)
  const messages = body.messages ?? [{ role: 'user', parts: [{ type: 'text', text: body.message ?? '' }] }]
  const { hostId, disabledTools, mcpServers: userServers } = body
  const { model = null, apiKey = null, pageContext: page = null } = body
  const question = { hostKey: host.key, hostId, messages, model, apiKey, disabledTools, userServers, page }
  try {
    return (await agent.start(question, call)).runId
  } catch (error) {
    throw isUnconfigured(error) ? new HttpError(503, 'provider-not-configured', error.message) : error
  }
}

const isUnconfigured = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.details?.reason === 'provider-not-configured'

const runIdOf = ({ path, call }: RawRequest, { chats }: Gateway): Promise<string | undefined> =>
  chats.runOf(parseRequestInput(AgentRunPath, path).id, call.identity)

/** Number in the Last-Event-ID header; 0 if the client has not received an event yet. */
const LastEventId = z
  .string()
  .regex(/^(0|[1-9]\d{0,8})$/, 'must be the number of an event')
  .default('0')
  .transform(Number)

const lastEventIdOf = ({ headers }: RawRequest): number =>
  parseRequestInput(z.object({ 'Last-Event-ID': LastEventId }), {
    'Last-Event-ID': headers['last-event-id'] || undefined,
  })['Last-Event-ID']

const sendEvents = async (
  position: RunPosition,
  { call }: RawRequest,
  gateway: Gateway,
  reply: Reply,
): Promise<void> => {
  const frames = await streamRunEvents(gateway, position, call)
  const headers = {
    'content-type': events,
    'cache-control': 'no-cache, no-transform',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-accel-buffering': 'no',
    'x-run-id': position.runId,
  }
  await reply.forward({ status: 200, headers, body: frames })
}

const ApprovalPath = z.object({ id: ApprovalId })

const decideApproval = definePostRoute({
  path: '/api/v1/agent/approvals/{id}',
  doc: 'Approves or denies an action that the agent requested. An approved action runs at once, on behalf of the approving caller',
  feature: 'ACTIONS',
  access: 'write',
  limit: 'data',
  query: noQuery,
  body: ApprovalDecisionRequest,
  answer: ApprovalResponse,
  handle: async ({ path, body: { approved }, call, requestId }, gateway) => {
    requireFeature(call.identity, 'AGENT', 'the agent')
    const { id: approvalId } = parseRequestInput(ApprovalPath, path)
    const { agent, telemetry } = gateway
    if (!approved) {
      await agent.resolveApproval({ approvalId, outcome: { state: 'denied' } }, call)
      return createSuccessBody(null, { approved })
    }
    const request = await agent.takeApproval({ approvalId }, call)
    const reportOutcome = (outcome: Outcome) =>
      agent.resolveApproval({ approvalId, outcome }, call).catch((error: unknown) => {
        // The action has run, so its response must not depend on the agent run.
        telemetry.log.warn({ requestId, err: error }, 'reporting the action result to the agent run failed')
      })
    try {
      const host = await hostOf(gateway, request.hostKey)
      const result = await runAction(gateway, host, actionOf(request), { call, requestId, origin: { approvalId } })
      await reportOutcome({ state: 'done', result })
      return createSuccessBody(result, { approved })
    } catch (error) {
      const message = error instanceof ServiceError ? error.message : 'internal error'
      await reportOutcome({ state: 'failed', message })
      throw error
    }
  },
})

type Outcome = Parameters<Gateway['agent']['resolveApproval']>[0]['outcome']

/** Returns the host of an approval request; throws `not-found` unless it is a host of the approving caller. */
const hostOf = async ({ hosts }: Gateway, hostKey: string): Promise<Host> => {
  const host = (await hosts.all()).find(({ key }) => key === hostKey)
  // `find` adds a saved connection of the caller to the call.
  if (host) return hosts.find(host.id)
  throw new ServiceError('not-found', 'the host of this approval request no longer exists')
}

const actionOf = ({ tool, input }: HostActionRequest): ActionRequest => {
  if (tool === 'kill_query') return { action: 'killQuery', params: input }
  if (tool === 'kill_mutation') return { action: 'killMutation', params: input }
  return { action: 'optimizeTable', params: input }
}

/** Approves or denies a tool call to an external server. Access to the agent is enough: hosts are not changed. */
const decideEgress = definePostRoute({
  path: '/api/v1/agent/egress/{id}',
  doc: 'Approves or denies a tool call that sends its arguments to an external server; 403 for API keys',
  feature: 'AGENT',
  access: 'write',
  guests: true,
  limit: 'data',
  query: noQuery,
  body: ApprovalDecisionRequest,
  answer: EgressResponse,
  handle: async ({ path, body: { approved }, call }, { agent }) => {
    const { id: approvalId } = parseRequestInput(ApprovalPath, path)
    await agent.decideEgress({ approvalId, approved }, call)
    return createSuccessBody(null, { approved })
  },
})

export const agentApprovalRoutes: readonly Route[] = [decideApproval, decideEgress]
