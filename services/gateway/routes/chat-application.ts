import { randomBytes } from 'node:crypto'
import type { ChatInstallation } from '#proto/chat-application.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ChatApplicationResponse,
  ChatCallbackQuery,
  ChatInstallationResponse,
  ChatInstallationPath,
  type ChatInstallationView,
  ChatAction,
  ChatActionResponse,
  ChatActionForm,
} from '#proto/http/chat-application.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { slackSigningSettings } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { type RotatingKey, parseSettings } from '#shared/config/setting.ts'
import { formatSetCookie, readCookie, isHttpsRequest, formatCookieRemoval } from '../auth/cookies.ts'
import { defineDeleteRoute, defineGetRoute, defineRedirectRoute, type Route } from '../http-route.ts'
import { isTimingSafeEqual } from '../request/bearer.ts'
import { parseRequestInput, parseForm } from '../request/parse.ts'
import { parseJsonText, decodeBody } from '../request/read-body.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { HttpError } from '../response/http-exchange.ts'
import { performChatAction } from '../webhooks/chat-click.ts'
import { requireChatSignature } from '../webhooks/signature.ts'

const path = '/api/v1/health/chat-application'
const common = { feature: 'HEALTH', limit: 'data' } as const
const writing = { ...common, access: 'write' } as const

/** Cookie that binds the callback to the browser that started the installation, against cross-site request forgery. */
const stateCookie = 'watchhouse_chat'
const stateBytes = 24
/** Maximum duration of an installation. */
const stateMs = 15 * 60_000
/** The page that the callback redirects to. */
const page = '/alerts/channels'

const state = defineGetRoute({
  ...common,
  path,
  doc: 'Lists the installations of the chat application and the settings that are missing to install it',
  access: 'read',
  query: noQuery,
  answer: ChatApplicationResponse,
  handle: async ({ call }, { alerts }) => {
    const { installations, ...rest } = await alerts.chatApplication({}, call)
    return createSuccessBody(
      { ...rest, installations: installations.map(toInstallationView) },
      { count: installations.length },
    )
  },
})

const install = defineRedirectRoute({
  ...writing,
  path: `${path}/install`,
  doc: 'Redirects a browser to the installation page of the chat service',
  query: noQuery,
  handle: async ({ call, headers, publicUrl }, { alerts }, { setCookie }) => {
    const state = randomBytes(stateBytes).toString('base64url')
    const { location } = await alerts.chatApplicationPage({ state }, call)
    setCookie(formatSetCookie(stateCookie, state, { maxAgeMs: stateMs, secure: isHttpsRequest(headers, publicUrl()) }))
    return location
  },
})

const callback = defineRedirectRoute({
  ...writing,
  path: `${path}/callback`,
  doc: 'Callback of the chat service after a chat was chosen',
  query: ChatCallbackQuery,
  handle: async ({ query: { state, code }, headers, publicUrl, call, requestId }, { alerts, audit }, { setCookie }) => {
    if (!isTimingSafeEqual(state, readCookie(headers, stateCookie) ?? ''))
      throw new ServiceError('forbidden', 'installation expired or started in another browser; start again')
    setCookie(formatCookieRemoval(stateCookie))
    // The callback has no code when the user cancelled.
    if (code === undefined) return `${publicUrl()}${page}?chat=not-installed`
    const action = { action: 'install-chat-application', host: null, target: {} }
    await audit.of(action, { call, requestId }, () => alerts.installChatApplication({ code }, call))
    return `${publicUrl()}${page}?chat=installed`
  },
})

const remove = defineDeleteRoute({
  ...writing,
  path: `${path}/{id}`,
  doc: 'Removes an installation of the chat application. The last one of a workspace also revokes its token',
  query: noQuery,
  answer: ChatInstallationResponse,
  handle: async ({ path, call, requestId }, { alerts, audit }) => {
    const { id } = parseRequestInput(ChatInstallationPath, path)
    const action = { action: 'remove-chat-application', host: null, target: { id } }
    const removing = () => alerts.removeChatApplication({ id }, call)
    return createSuccessBody(toInstallationView(await audit.of(action, { call, requestId }, removing)), {})
  },
})

const toInstallationView = ({ installedAtMs, ...installation }: ChatInstallation): ChatInstallationView => ({
  ...installation,
  installedAt: new Date(installedAtMs).toISOString(),
})

/** Routes that install, list and remove the Slack application. */
export const chatApplicationRoutes: readonly Route[] = [state, install, callback, remove]

const form = 'application/x-www-form-urlencoded'
/** Maximum body size. The payload contains the complete Slack message. */
const maxBodyBytes = 128 * 1024

/** Handles buttons under alerts in a chat. The audit log names the user of the chat as actor. */
export const chatWebhookRoute: Route = {
  method: 'POST',
  path: '/api/webhooks/chat-application',
  doc: 'Acknowledges or dismisses an alert from a button in a chat. Requests are signed by the chat service with CHATAPP_SIGNING_SECRET',
  feature: 'HEALTH',
  access: 'own-bearer',
  secretOnly: true,
  limit: 'ingest',
  query: noQuery,
  reads: { mediaTypes: [form], schema: ChatActionForm },
  answer: ChatActionResponse,
  open: (_request, env) => void secretOf(env),
  async respond({ headers, call, requestId, readBody }, gateway, reply) {
    const body = await readBody(maxBodyBytes)
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers['content-type'] ?? ''))
      throw new HttpError(415, 'unsupported-media-type', `send a form with Content-Type: ${form}`)
    const signature = requireChatSignature({ headers, body, nowMs: gateway.clock.now() }, secretOf(gateway.env))
    const { payload } = parseRequestInput(ChatActionForm, parseForm(decodeBody(body)))
    const click = parseRequestInput(ChatAction, parseJsonText(payload))
    await gateway.requireFirstTime('chat-application', signature)
    reply.json(createSuccessBody({ said: await performChatAction(gateway, { call, requestId }, click) }, {}))
  },
}

const secretOf = (env: Environment): RotatingKey => {
  const secret = parseSettings(slackSigningSettings, env).CHATAPP_SIGNING_SECRET
  if (secret) return secret
  throw new ServiceError('unavailable', 'Slack actions are disabled: CHATAPP_SIGNING_SECRET is not set')
}
