import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { ChatInstallation } from '#proto/chat-application.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ChatApplicationAnswer,
  ChatCallbackQuery,
  ChatInstallationAnswer,
  ChatInstallationPath,
  type ChatInstallationShown,
  ChatAction,
  ChatActionAnswer,
  ChatActionForm,
} from '#proto/http/chat-application.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { chatApplicationSigning } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, read } from '#shared/config/setting.ts'
import { cookieLine, cookieOf, isSecure, removedCookie } from '../auth/cookies.ts'
import { deleteRoute, getRoute, redirectRoute, type Route } from '../http-route.ts'
import { isSameText } from '../request/bearer.ts'
import { parse, parseForm } from '../request/parse.ts'
import { jsonOf, textOf } from '../request/read-body.ts'
import { success } from '../response/envelope.ts'
import { HttpError } from '../response/http-exchange.ts'
import { obey } from '../webhooks/chat-click.ts'
import { requireChatSignature } from '../webhooks/signature.ts'

const path = '/api/v1/health/chat-application'
const common = { feature: 'HEALTH', limit: 'data' } as const
const writing = { ...common, access: 'write' } as const

/** Ties the way back to the browser that left: nobody makes another install a chat of theirs by a link. */
const stateCookie = 'watchhouse_chat'
const stateBytes = 24
/** How long choosing a chat may take. */
const stateMs = 15 * 60_000
/** The page where the way back ends. */
const page = '/alerts/channels'

const state = getRoute({
  ...common,
  path,
  doc: 'The chats that the chat application is installed for, and what is missing to install it',
  access: 'read',
  query: noQuery,
  answer: ChatApplicationAnswer,
  handle: async ({ call }, { alerts }) => {
    const { installations, ...rest } = await alerts.chatApplication({}, call)
    return success({ ...rest, installations: installations.map(shown) }, { count: installations.length })
  },
})

const install = redirectRoute({
  ...writing,
  path: `${path}/install`,
  doc: 'Sends a browser to the page of the chat service where a chat is chosen for the application',
  query: noQuery,
  handle: async ({ call, headers, publicUrl }, { alerts }, { setCookie }) => {
    const state = randomBytes(stateBytes).toString('base64url')
    const { location } = await alerts.chatApplicationPage({ state }, call)
    setCookie(cookieLine(stateCookie, state, { maxAgeMs: stateMs, secure: isSecure(headers, publicUrl()) }))
    return location
  },
})

const callback = redirectRoute({
  ...writing,
  path: `${path}/callback`,
  doc: 'Where the chat service sends people back to once they have chosen a chat',
  query: ChatCallbackQuery,
  handle: async ({ query: { state, code }, headers, publicUrl, call, requestId }, { alerts, audit }, { setCookie }) => {
    if (!isSameText(state, cookieOf(headers, stateCookie) ?? ''))
      throw new ServiceError('forbidden', 'this installation was begun elsewhere or took too long; begin it again')
    setCookie(removedCookie(stateCookie))
    // Whoever did not want to install it in the end comes back without a code.
    if (code === undefined) return `${publicUrl()}${page}?chat=not-installed`
    const deed = { action: 'install-chat-application', host: null, target: {} }
    await audit.of(deed, { call, requestId }, () => alerts.installChatApplication({ code }, call))
    return `${publicUrl()}${page}?chat=installed`
  },
})

const remove = deleteRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Forgets a chat of the chat application; with the last of a workspace its token is revoked',
  query: noQuery,
  answer: ChatInstallationAnswer,
  handle: async ({ path, call, requestId }, { alerts, audit }) => {
    const { id } = parse(ChatInstallationPath, path)
    const deed = { action: 'remove-chat-application', host: null, target: { id } }
    const removing = () => alerts.removeChatApplication({ id }, call)
    return success(shown(await audit.of(deed, { call, requestId }, removing)), {})
  },
})

const shown = ({ installedAtMs, ...installation }: ChatInstallation): ChatInstallationShown => ({
  ...installation,
  installedAt: new Date(installedAtMs).toISOString(),
})

/** Where the chat application is installed. */
export const chatApplicationRoutes: readonly Route[] = [state, install, callback, remove]

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
