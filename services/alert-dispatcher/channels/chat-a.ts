import { z } from 'zod'
import { flag, read } from '#shared/config/setting.ts'
import { cut, escapeAngles, escapeHtml } from '../messages/text.ts'
import { type Message, bodyText } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import { type Channel, type SendResult, sendWithinMs } from './channel.ts'
import { type Answer, exchange } from './channel-request.ts'
import { shaped } from './setting-shapes.ts'

const settings = {
  HEALTH_ALERT_CHAT_A_BOT_TOKEN: shaped(/^\d+:[\w-]+$/, 'must be the token of a bot, such as 123456:ABC-DEF', {
    doc: 'Token of the Telegram bot that tells alerts.',
    audience: 'secret',
  }),
  HEALTH_ALERT_CHAT_A_CHAT_ID: shaped(/^(-?\d+|@\w+)$/, 'must be the number of a chat, or the @name of a channel', {
    doc: 'Telegram chat that the bot tells alerts: its number, or the @name of a channel.',
  }),
  HEALTH_ALERT_CHAT_A_ENABLED: flag(true, 'Whether the Telegram chat gets alerts.'),
  HEALTH_ALERT_CHAT_A_MIN_SEVERITY: severityFloor('Least severity that the Telegram chat gets.'),
} as const

/**
 * A Telegram chat, through a bot.
 * A message that is sent twice is shown twice; a recovery is a message.
 */
export const chatA: Channel = {
  id: 'chat-a',
  words: { name: 'Telegram', doc: 'A chat, through a bot.' },
  settings,
  isPaging: false,
  // A group takes 20 a minute, burst included.
  limits: { concurrency: 1, perSecond: 0.25, burst: 5, groupAfter: 3 },
  targets(env) {
    const given = read(settings, env)
    const { HEALTH_ALERT_CHAT_A_BOT_TOKEN: token, HEALTH_ALERT_CHAT_A_CHAT_ID: chat } = given
    if (token === undefined || chat === undefined) return []
    return [
      {
        id: 'default',
        name: 'chat-a',
        isEnabled: given.HEALTH_ALERT_CHAT_A_ENABLED,
        minSeverity: given.HEALTH_ALERT_CHAT_A_MIN_SEVERITY ?? null,
        send: async (message, way) => {
          const post = (to: string) =>
            sendTo(way, { url: `https://api.telegram.org/bot${token}/sendMessage`, to, message })
          const { result, movedTo } = await post(chat)
          if (movedTo === undefined) return result
          const again = await post(movedTo)
          return again.result.kind === 'ok'
            ? { kind: 'ok', remark: `its chat has moved: its id is now ${movedTo}` }
            : again.result
        },
      },
    ]
  },
}

interface Sending {
  url: string
  to: string
  message: Message
}

/** A group that becomes a supergroup gets another number, which the refusal tells. */
const sendTo = async (
  way: Parameters<typeof exchange>[0],
  { url, to, message }: Sending,
): Promise<{ result: SendResult; movedTo: string | undefined }> => {
  let movedTo: string | undefined
  const result = await exchange(way, {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      chat_id: to,
      text: htmlOf(message),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }),
    // Two of them must not take longer than one send may.
    timeoutMs: sendWithinMs / 2,
    judge: (answer) => {
      movedTo = Reply.safeParse(answer.body).data?.parameters?.migrate_to_chat_id?.toString()
      return judge(answer)
    },
  })
  return { result, movedTo }
}

/** As it is shown, without its markup. */
const maxText = 4_096
const maxHeadline = 400
const open = 'Open'

const htmlOf = (message: Message): string => {
  const { url, origin } = message
  const headline = cut(message.headline, maxHeadline)
  const link = url === null ? '' : `\n\n<a href="${escapeHtml(url)}">${open}</a>`
  const room = maxText - [headline, open, origin].join('\n\n\n').length
  return `<b>${escapeAngles(headline)}</b>\n${escapeAngles(cut(bodyText(message), room))}${link}\n<i>${origin}</i>`
}

const Reply = z.object({
  ok: z.boolean(),
  description: z.string().optional(),
  parameters: z.object({ migrate_to_chat_id: z.int().optional() }).optional(),
})

/** Most refusals are a 400; only its words tell a chat that is no good from a text that is. */
const dead =
  /chat not found|chat_id is empty|upgraded to a supergroup|PEER_ID_INVALID|CHAT_WRITE_FORBIDDEN|no rights to send|not enough rights/i

const judge = ({ status, body }: Answer): SendResult | undefined => {
  const reply = Reply.safeParse(body).data
  if (status === 200 && reply?.ok !== true) return { kind: 'retry', reason: 'answered 200 without taking it' }
  return status === 400 && dead.test(reply?.description ?? '')
    ? { kind: 'config', reason: 'its chat takes nothing from this bot' }
    : undefined
}
