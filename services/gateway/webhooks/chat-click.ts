import type { Silence } from '#proto/alert-history.ts'
import { formatAuditHostName } from '#proto/audit.ts'
import type { CallContext, Identity } from '#proto/call.ts'
import { chatActions, ChatButtonCondition } from '#proto/chat-application.ts'
import { errorStatuses, ServiceError } from '#proto/errors.ts'
import type { ChatAction } from '#proto/http/chat-application.ts'
import type { Gateway } from '../gateway.ts'
import { parseRequestInput } from '../request/parse.ts'
import { silenceActions } from '../audit/open-audit.ts'
import { loadHostNames } from '../hosts/host-list.ts'
import type { Logger } from 'pino'
import type { RequestSender } from '#shared/net/net.ts'

/** Reports the result of a click to the chat: to everyone in it, or only to the user who clicked. */
export type ChatReplier = (address: string, said: ChatAnswer) => Promise<void>

interface ChatAnswer {
  text: string
  toAll: boolean
}

/** Timeout of the reply. The response to the click follows the reply, and Slack waits only three seconds for it. */
const timeoutMs = 1_500

/** Returns a function that replies to a click. A failed reply is only logged and does not fail the action. */
export const createChatReplier =
  (send: RequestSender, log: Logger): ChatReplier =>
  async (address, { text, toAll }) => {
    const body = JSON.stringify({ text, response_type: toAll ? 'in_channel' : 'ephemeral', replace_original: false })
    const headers = { 'content-type': 'application/json' }
    try {
      const { status } = await send(address, { method: 'POST', headers, body, timeoutMs })
      if (status !== 200) log.warn({ status }, 'Slack rejected the reply to an action')
    } catch (error) {
      log.warn({ err: error }, 'replying to a Slack action failed')
    }
  }

/** A click on a button under an alert. */
interface Click {
  kind: Silence['kind']
  subject: ChatButtonCondition
  person: ChatAction['user']
  identity: Identity
}

/** Converts a Slack action to a click; throws `invalid` if its button names no condition. */
const clickOf = ({ team, user, actions: [{ action_id, value }] }: ChatAction): Click => ({
  kind: action_id === chatActions.acknowledge ? 'ack' : 'dismissal',
  subject: parseRequestInput(ChatButtonCondition, jsonOf(value)),
  person: user,
  // Users can change their names in Slack, but not their ids.
  identity: { kind: 'user', subject: `slack:${team.id}/${user.id}`, features: ['HEALTH'], profile: profileOf(user) },
})

const profileOf = ({ username, name }: ChatAction['user']): { name?: string } => {
  const shown = username ?? name
  return shown === undefined ? {} : { name: shown }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('invalid', 'the value of the button must be JSON', { details: { parameter: 'value' } })
  }
}

interface AuditContext {
  call: CallContext
  requestId: string
}

/**
 * Performs the action of a click as the user of the chat, reports the result to the chat and returns the reported text.
 * Rethrows the error of a failed action after reporting it.
 */
export const performChatAction = async (
  { alerts, audit, answerChat, hosts }: Gateway,
  { call, requestId }: AuditContext,
  click: ChatAction,
): Promise<string> => {
  const { kind, subject, person, identity } = clickOf(click)
  const { hostKey, ruleId, episode } = subject
  const host = hostKey === null ? null : ((await loadHostNames(hosts))(hostKey)?.host ?? hostKey)
  const userCall = { ...call, identity }
  const wanted = { kind, episode, minutes: null, note: `in the chat, by ${identity.profile?.name ?? person.id}` }
  const target = { rule: ruleId, episode, minutes: 'until recovery', person: identity.profile?.name ?? person.id }
  const onRecord = hostKey === null || host === null ? null : formatAuditHostName({ key: hostKey, name: host })
  const action = { action: silenceActions[kind].done, host: onRecord, target }
  try {
    await audit.of(action, { call: userCall, requestId }, () =>
      hostKey === null
        ? alerts.silenceInbound(wanted, userCall)
        : alerts.silence({ ...wanted, hostKey, ruleId }, userCall),
    )
  } catch (error) {
    await answerChat(click.response_url, { text: `Not done: ${sentenceOf(error)}.`, toAll: false })
    throw error
  }
  const said = `<@${person.id}> ${confirmations[kind]}: ${escaped(ruleId)}${host === null ? '' : ` on ${escaped(host)}`}.`
  await answerChat(click.response_url, { text: said, toAll: true })
  return said
}

const confirmations = {
  ack: 'acknowledged, so no reminders are sent until it recovers',
  dismissal: 'dismissed; no notifications until it recovers',
} as const

/** Escapes the three characters that Slack interprets as markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const sentenceOf = (error: unknown): string =>
  error instanceof ServiceError && errorStatuses[error.code] !== errorStatuses.internal
    ? escaped(error.message)
    : 'internal error'
