import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Send } from '#shared/net/net.ts'
import type { OpenInstallation } from './kept.ts'
import type { Installing } from './settings.ts'

const authorizePage = 'https://slack.com/oauth/v2/authorize'
const api = 'https://slack.com/api'
/** All that we ask for: to post into the one chat that whoever installs it chooses. */
const scope = 'incoming-webhook'
const timeoutMs = 5_000
const maxBytes = 64 * 1024

/** Where people choose the chat. */
export const pageOf = ({ clientId, redirectUrl }: Installing, state: string): string =>
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
export const exchangeCode = async (
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
export const revokeToken = async (send: Send, token: string): Promise<boolean> => {
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
