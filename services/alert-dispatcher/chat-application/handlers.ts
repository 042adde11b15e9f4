import { z } from 'zod'
import type { alerts } from '#proto/alerts.ts'
import { ChatInstallation, type chatApplicationMethods } from '#proto/chat-application.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { takesChatActions } from '#shared/config/shared-settings.ts'
import { read } from '#shared/config/setting.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Send } from '#shared/net/net.ts'
import { noSuch } from '#shared/text/no-such.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { type Kept, openKept, sealed, type OpenInstallation } from './installation.ts'
import type { ChatApplication } from './open.ts'
import { chatApplicationSettings, type Installing, installing } from './settings.ts'

type ChatApplicationHandlers = Pick<Handlers<typeof alerts>, keyof typeof chatApplicationMethods>

interface Answering extends Pick<Context, 'env' | 'net' | 'clock' | 'telemetry'> {
  chatApplication: ChatApplication
}

/** What people may do with the chat application. */
export const chatApplicationHandlers = (answering: Answering): ChatApplicationHandlers => {
  const { env, net, clock, chatApplication } = answering
  return {
    async chatApplication() {
      const ready = installing(env)
      return {
        interactive: takesChatActions(env),
        missing: 'missing' in ready ? ready.missing : [],
        installations: (await chatApplication.current()).map(shown),
      }
    },
    async chatApplicationPage({ state }) {
      chatApplication.store()
      return { location: pageOf(requireReady(answering), state) }
    },
    async installChatApplication({ code }, { identity }) {
      const [store, ready, key] = [chatApplication.store(), requireReady(answering), keyOf(answering)]
      if (!key) throw missing(['CHATAPP_TOKEN_ENCRYPTION_KEY'])
      const granted = await exchangeCode(net.trusted, ready, code)
      const installed = { ...granted, installedBy: identity.subject, installedAtMs: clock.now() }
      await store.put(sealed(installed, key))
      chatApplication.changed()
      return shown(installed)
    },
    async removeChatApplication({ id }) {
      const store = chatApplication.store()
      const all = await store.all()
      const kept = all.find((each) => each.id === id)
      if (!kept)
        throw noSuch(
          'installation of the chat application',
          id,
          all.map((each) => each.id),
          'id',
        )
      await store.remove(id)
      chatApplication.changed()
      const isLast = !all.some((each) => each.id !== id && workspaceOf(each.id) === workspaceOf(id))
      if (isLast) await revoke(answering, kept)
      return shown(kept)
    },
  }
}

/** All installations of one workspace share its token. */
const workspaceOf = (id: string): string | undefined => id.split('-')[0]

/** What is removed here stays removed, whether or not the chat service hears of it. */
const revoke = async (answering: Answering, kept: Kept): Promise<void> => {
  const { net, telemetry } = answering
  const token = openKept(kept, keyOf(answering))?.token
  const isRevoked = token !== undefined && (await revokeToken(net.trusted, token).catch(() => false))
  if (!isRevoked) telemetry.log.warn({ installation: kept.id }, 'token of the chat application could not be revoked')
}

const keyOf = ({ env }: Answering) => read(chatApplicationSettings, env).CHATAPP_TOKEN_ENCRYPTION_KEY

const requireReady = ({ env }: Answering): Installing => {
  const ready = installing(env)
  if ('missing' in ready) throw missing(ready.missing)
  return ready
}

const missing = (names: readonly string[]): ServiceError =>
  new ServiceError(
    'not-implemented',
    `the chat application cannot be installed: the operator has not set ${names.join(', ')}`,
  )

const shown = (installation: ChatInstallation): ChatInstallation => ChatInstallation.parse(installation)

const authorizePage = 'https://slack.com/oauth/v2/authorize'
const api = 'https://slack.com/api'
/** All that we ask for: to post into the one chat that whoever installs it chooses. */
const scope = 'incoming-webhook'
const timeoutMs = 5_000
const maxBytes = 64 * 1024

/** Where people choose the chat. */
const pageOf = ({ clientId, redirectUrl }: Installing, state: string): string =>
  `${authorizePage}?${new URLSearchParams({ client_id: clientId, scope, redirect_uri: redirectUrl, state })}`

const word = z.string().min(1).max(256)
const Granted = z.object({
  ok: z.literal(true),
  access_token: z.string().min(1),
  team: z.object({ id: word, name: word }),
  incoming_webhook: z.object({ channel: word, channel_id: word, url: z.url({ protocol: /^https$/ }) }),
})
const Refused = z.object({ ok: z.literal(false), error: z.string() })

/** Exchanges the code for what it stands for; throws `invalid` for a code that is none, `conflict` for a set-up that is no good. */
const exchangeCode = async (
  send: Send,
  { clientId, clientSecret, redirectUrl }: Installing,
  code: string,
): Promise<Omit<OpenInstallation, 'installedBy' | 'installedAtMs'>> => {
  const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const answered = await ask(send, 'oauth.v2.access', { authorization }, { code, redirect_uri: redirectUrl })
  const granted = Granted.safeParse(answered)
  if (!granted.success) throw refusal(Refused.safeParse(answered).data?.error)
  const { access_token: token, team, incoming_webhook: chat } = granted.data
  return { id: `${team.id}-${chat.channel_id}`, workspace: team.name, chat: chat.channel, token, url: chat.url }
}

/** Ends a token. */
const revokeToken = async (send: Send, token: string): Promise<boolean> => {
  const answered = await ask(send, 'auth.revoke', { authorization: `Bearer ${token}` }, {})
  return z.object({ ok: z.literal(true) }).safeParse(answered).success
}

const ask = async (
  send: Send,
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
      throw new ServiceError('unavailable', 'the chat service does not answer; try again', { cause: error })
    throw error
  }
}

/** What of the set-up the chat service does not know. */
const badSetUp = /client_id|client_secret|redirect_uri|bad_client|team_not_allowed/

const refusal = (error = ''): ServiceError =>
  badSetUp.test(error)
    ? new ServiceError(
        'conflict',
        'the chat service does not know the application: check CHATAPP_CLIENT_ID, CHATAPP_CLIENT_SECRET and CHATAPP_OAUTH_REDIRECT_URL',
      )
    : new ServiceError('invalid', 'the chat service does not take this code; begin the installation again', {
        details: { parameter: 'code' },
      })
