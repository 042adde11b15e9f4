import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '#proto/errors.ts'
import { ChatAction, ChatActionAnswer, ChatActionForm } from '#proto/http/chat-application.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { chatApplicationSigning } from '#shared/config/chat-application.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, read } from '#shared/config/setting.ts'
import { jsonOf, textOf } from '../request/read-body.ts'
import { HttpError } from '../response/http-error.ts'
import { parse } from '../request/parse.ts'
import { parseForm } from '../request/query-string.ts'
import type { Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'
import { obey } from '../webhooks/chat-click.ts'
import { requireChatSignature } from '../webhooks/signature.ts'

const form = 'application/x-www-form-urlencoded'
/** A click brings the message along that it was made under. */
const longestBody = 128 * 1024

/** Takes what people press under alerts in a chat: done as whoever signs in here does it, with the person on record. */
export const chatWebhook: Route = {
  method: 'POST',
  path: '/api/webhooks/chat-application',
  doc: 'Acknowledges or dismisses the alert whose button somebody pressed in a chat; signed by the chat service with CHATAPP_SIGNING_SECRET',
  feature: 'HEALTH',
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  reads: { mediaTypes: [form], schema: ChatActionForm },
  answer: ChatActionAnswer,
  open: (_headers: IncomingHttpHeaders, env: Environment) => void secretOf(env),
  async respond({ headers, call, requestId, readBody }, gateway, reply) {
    const body = await readBody(longestBody)
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? ''))
      throw new HttpError(415, 'unsupported-media-type', `send a form with Content-Type: ${form}`)
    const signature = requireChatSignature({ headers, body, nowMs: gateway.clock.now() }, secretOf(gateway.env))
    const { payload } = parse(ChatActionForm, parseForm(textOf(body)))
    const click = parse(ChatAction, jsonOf(payload))
    await gateway.requireFirstTime('chat-application', signature)
    reply.json(success({ said: await obey(gateway, { call, requestId }, click) }, {}))
  },
}

const secretOf = (env: Environment): RotatingKey => {
  const secret = read(chatApplicationSigning, env).CHATAPP_SIGNING_SECRET
  if (secret) return secret
  throw new ServiceError('unavailable', 'clicks are not taken: the operator has not set CHATAPP_SIGNING_SECRET')
}
