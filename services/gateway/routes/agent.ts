import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { AgentRequest, RunPath, StopAnswer } from '#proto/http/agent.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { read } from '#shared/config/setting.ts'
import { agentDoorSettings } from '../agent/config.ts'
import { identifyAsker } from '../agent/callers.ts'
import { toldEvents, type Wanted } from '../agent/run-events.ts'
import { jsonBodyOf } from '../request/read-body.ts'
import type { Gateway } from '../gateway.ts'
import { HttpError } from '../response/http-error.ts'
import { parse } from '../request/parse.ts'
import type { Reply } from '../response/http-reply.ts'
import type { Given, Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

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
