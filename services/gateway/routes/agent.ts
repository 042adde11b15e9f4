import { z } from 'zod'
import { ApprovalId, type ControlWish } from '#proto/agent.ts'
import { requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/host.ts'
import type { ActionRequest } from '#proto/http/actions.ts'
import { AgentRequest, RunPath, StopAnswer, ApprovalAnswer, ApprovalRequest, EgressAnswer } from '#proto/http/agent.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { read } from '#shared/config/setting.ts'
import { identifyAsker } from '../agent/callers.ts'
import { agentDoorSettings } from '../agent/config.ts'
import { toldEvents, type Wanted } from '../agent/run-events.ts'
import type { Gateway } from '../gateway.ts'
import { type Given, type Route, postRoute } from '../http-route.ts'
import { parse } from '../request/parse.ts'
import { jsonBodyOf } from '../request/read-body.ts'
import { success } from '../response/envelope.ts'
import { HttpError } from '../response/http-exchange.ts'
import type { Reply } from '../response/http-reply.ts'
import { carryOut } from './actions.ts'

const common = { feature: 'AGENT', access: 'write', guests: true, query: noQuery, identify: identifyAsker } as const
const events = 'text/event-stream'

const ask: Route = {
  ...common,
  method: 'POST',
  path: '/api/v1/agent',
  doc: 'Answers a question in words, with the evidence for it, as the UI message stream of the AI SDK',
  limit: 'agent',
  reads: { mediaTypes: ['application/json'], schema: AgentRequest },
  mediaType: events,
  answer: z.string(),
  async respond(given, gateway, reply) {
    const bytes = await given.readBody(read(agentDoorSettings, gateway.env).SVC_AGENT_MAX_BODY_BYTES)
    const asked = parse(AgentRequest, jsonBodyOf(bytes, given.headers['content-type']))
    const runId = await begin(asked, given, gateway)
    if (asked.id !== undefined) await gateway.chats.keep(asked.id, given.call.identity, runId)
    await tell({ runId, after: 0 }, given, gateway, reply)
  },
}

const resume: Route = {
  ...common,
  method: 'GET',
  path: '/api/v1/agent/{id}/stream',
  doc: 'Goes on with an answer by the id of its run or chat, after the event that Last-Event-ID names; 204 when the chat has none',
  limit: 'data',
  mediaType: events,
  answer: z.string(),
  nothing: 'The chat has no answer of late.',
  async respond(given, gateway, reply) {
    const runId = await runIdOf(given, gateway)
    if (runId === undefined) return reply.nothing()
    await tell({ runId, after: lastEventOf(given) }, given, gateway, reply)
  },
}

const stop: Route = {
  ...common,
  method: 'POST',
  path: '/api/v1/agent/{id}/stop',
  doc: 'Ends an answer by the id of its run or chat, with all that it asks of models and hosts',
  limit: 'data',
  answer: StopAnswer,
  async respond(given, gateway, reply) {
    const runId = await runIdOf(given, gateway)
    if (runId === undefined) throw new ServiceError('gone', 'nothing is kept of this chat any more')
    reply.json(success(await gateway.agent.stop({ runId }, given.call), {}))
  },
}

/** What callers ask the agent by. */
export const agentRoutes: readonly Route[] = [ask, resume, stop]

const begin = async (asked: AgentRequest, { call }: Given, { agent, hosts }: Gateway): Promise<string> => {
  const host = await hosts.find(asked.hostId)
  const messages = asked.messages ?? [{ role: 'user', parts: [{ type: 'text', text: asked.message ?? '' }] }]
  const { hostId, disabledTools, mcpServers: userServers } = asked
  const { model = null, apiKey = null, pageContext: page = null } = asked
  const question = { hostKey: host.key, hostId, messages, model, apiKey, disabledTools, userServers, page }
  try {
    return (await agent.start(question, call)).runId
  } catch (error) {
    throw isUnconfigured(error) ? new HttpError(503, 'provider-not-configured', error.message) : error
  }
}

const isUnconfigured = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.details?.reason === 'provider-not-configured'

const runIdOf = ({ path, call }: Given, { chats }: Gateway): Promise<string | undefined> =>
  chats.runOf(parse(RunPath, path).id, call.identity)

/** Clients send what they read last, and may not have read a thing. */
const LastEventId = z
  .string()
  .regex(/^(0|[1-9]\d{0,8})$/, 'must be the number of an event')
  .default('0')
  .transform(Number)

const lastEventOf = ({ headers }: Given): number =>
  parse(z.object({ 'Last-Event-ID': LastEventId }), { 'Last-Event-ID': headers['last-event-id'] || undefined })[
    'Last-Event-ID'
  ]

const tell = async (wanted: Wanted, { call }: Given, gateway: Gateway, reply: Reply): Promise<void> => {
  const frames = await toldEvents(gateway, wanted, call)
  const headers = {
    'content-type': events,
    'cache-control': 'no-cache, no-transform',
    'x-vercel-ai-ui-message-stream': 'v1',
    'x-accel-buffering': 'no',
    'x-run-id': wanted.runId,
  }
  await reply.handOn({ status: 200, headers, body: frames })
}

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
