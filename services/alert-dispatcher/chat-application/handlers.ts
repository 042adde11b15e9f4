import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import { ChatInstallation, type chatApplicationMethods } from '#proto/chat-application.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { canVerifySlackActions } from '#shared/config/shared-settings.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import {
  type StoredInstallation,
  decryptInstallation,
  encryptInstallation,
  type DecryptedInstallation,
} from './installation.ts'
import type { ChatApplication } from './open-chat-application.ts'
import { chatApplicationSettings, type InstallSettings, readInstallSettings } from './settings.ts'

type ChatApplicationHandlers = Pick<ServiceHandlers<typeof alerts>, keyof typeof chatApplicationMethods>

interface HandlerDeps extends Pick<ServiceContext, 'env' | 'net' | 'clock' | 'telemetry'> {
  chatApplication: ChatApplication
}

/** Returns the handlers for the Slack application. */
export const createChatApplicationHandlers = (deps: HandlerDeps): ChatApplicationHandlers => {
  const { env, net, clock, chatApplication } = deps
  return {
    async chatApplication() {
      const ready = readInstallSettings(env)
      return {
        interactive: canVerifySlackActions(env),
        missing: 'missing' in ready ? ready.missing : [],
        installations: (await chatApplication.current()).map(removeSecrets),
      }
    },
    async chatApplicationPage({ state }) {
      chatApplication.store()
      return { location: buildAuthorizeUrl(requireInstallSettings(deps), state) }
    },
    async installChatApplication({ code }, { identity }) {
      const [store, ready, key] = [chatApplication.store(), requireInstallSettings(deps), readEncryptionKey(deps)]
      if (!key) throw createMissingSettingsError(['CHATAPP_TOKEN_ENCRYPTION_KEY'])
      const grant = await exchangeCode(net.trusted, ready, code)
      const installed = { ...grant, installedBy: identity.subject, installedAtMs: clock.now() }
      await store.put(encryptInstallation(installed, key))
      chatApplication.changed()
      return removeSecrets(installed)
    },
    async removeChatApplication({ id }) {
      const store = chatApplication.store()
      const all = await store.all()
      const stored = all.find((each) => each.id === id)
      if (!stored)
        throw createNotFoundError(
          'Slack installation',
          id,
          all.map((each) => each.id),
          'id',
        )
      await store.remove(id)
      chatApplication.changed()
      const isLast = !all.some((each) => each.id !== id && workspaceOf(each.id) === workspaceOf(id))
      if (isLast) await revoke(deps, stored)
      return removeSecrets(stored)
    },
  }
}

/** Returns the workspace part of an installation id. All installations of a workspace share one token. */
const workspaceOf = (id: string): string | undefined => id.split('-')[0]

/** Revokes the token at Slack. A failure is only logged, so that the installation can be removed in any case. */
const revoke = async (deps: HandlerDeps, stored: StoredInstallation): Promise<void> => {
  const { net, telemetry } = deps
  const token = decryptInstallation(stored, readEncryptionKey(deps))?.token
  const isRevoked = token !== undefined && (await revokeToken(net.trusted, token).catch(() => false))
  if (!isRevoked) telemetry.log.warn({ installation: stored.id }, 'Slack token revocation failed')
}

const readEncryptionKey = ({ env }: HandlerDeps) =>
  parseSettings(chatApplicationSettings, env).CHATAPP_TOKEN_ENCRYPTION_KEY

const requireInstallSettings = ({ env }: HandlerDeps): InstallSettings => {
  const ready = readInstallSettings(env)
  if ('missing' in ready) throw createMissingSettingsError(ready.missing)
  return ready
}

const createMissingSettingsError = (names: readonly string[]): ServiceError =>
  new ServiceError('not-implemented', `cannot install the Slack application: missing settings: ${names.join(', ')}`)

/** Returns the installation as the API shows it, without secrets. */
const removeSecrets = (installation: ChatInstallation): ChatInstallation => ChatInstallation.parse(installation)

const authorizePage = 'https://slack.com/oauth/v2/authorize'
const api = 'https://slack.com/api'
/** The only scope: posting to the channel that the user selects during installation. */
const scope = 'incoming-webhook'
const timeoutMs = 5_000
const maxBytes = 64 * 1024

/** Returns the URL of the Slack page on which the user selects the channel. */
const buildAuthorizeUrl = ({ clientId, redirectUrl }: InstallSettings, state: string): string =>
  `${authorizePage}?${new URLSearchParams({ client_id: clientId, scope, redirect_uri: redirectUrl, state })}`

const word = z.string().min(1).max(256)
const InstallGrant = z.object({
  ok: z.literal(true),
  access_token: z.string().min(1),
  team: z.object({ id: word, name: word }),
  incoming_webhook: z.object({ channel: word, channel_id: word, url: z.url({ protocol: /^https$/ }) }),
})
const SlackError = z.object({ ok: z.literal(false), error: z.string() })

/**
 * Exchanges the code for an installation. Throws `invalid` for an unknown code and `conflict` for an invalid
 * configuration.
 */
const exchangeCode = async (
  send: RequestSender,
  { clientId, clientSecret, redirectUrl }: InstallSettings,
  code: string,
): Promise<Omit<DecryptedInstallation, 'installedBy' | 'installedAtMs'>> => {
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const response = await callSlack(send, 'oauth.v2.access', { authorization }, { code, redirect_uri: redirectUrl })
  const grant = InstallGrant.safeParse(response)
  if (!grant.success) throw createInstallError(SlackError.safeParse(response).data?.error)
  const { access_token: token, team, incoming_webhook: chat } = grant.data
  return { id: `${team.id}-${chat.channel_id}`, workspace: team.name, chat: chat.channel, token, url: chat.url }
}

/** Revokes a token; returns whether Slack confirmed it. */
const revokeToken = async (send: RequestSender, token: string): Promise<boolean> => {
  const response = await callSlack(send, 'auth.revoke', { authorization: `Bearer ${token}` }, {})
  return z.object({ ok: z.literal(true) }).safeParse(response).success
}

const callSlack = async (
  send: RequestSender,
  method: string,
  headers: Record<string, string>,
  form: Record<string, string>,
): Promise<unknown> => {
  try {
    const sent = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(form).toString()
    const response = await send(`${api}/${method}`, { method: 'POST', headers: sent, body, timeoutMs, maxBytes })
    return await response.json()
  } catch (error) {
    if (error instanceof NetFailure || error instanceof SyntaxError)
      throw new ServiceError('unavailable', 'Slack is unreachable; try again', { cause: error })
    throw error
  }
}

/** Error codes of Slack that point to the configuration of the application. */
const configErrors = /client_id|client_secret|redirect_uri|bad_client|team_not_allowed/

const createInstallError = (error = ''): ServiceError =>
  configErrors.test(error)
    ? new ServiceError(
        'conflict',
        'Slack rejected the application; check CHATAPP_CLIENT_ID, CHATAPP_CLIENT_SECRET and CHATAPP_OAUTH_REDIRECT_URL',
      )
    : new ServiceError('invalid', 'Slack rejected the code; start the installation again', {
        details: { parameter: 'code' },
      })
