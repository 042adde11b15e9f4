import { z } from 'zod'
import { flagSetting, parseSettings } from '#shared/config/setting.ts'
import { truncateText, escapeMarkup, escapeHtml } from '../messages/text.ts'
import { type Message, renderBody } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import { type Channel, type SendResult, maxSendMs } from './channel.ts'
import { type ChannelResponse, sendChannelRequest } from './channel-request.ts'
import { createPatternSetting } from './setting-types.ts'

const settings = {
  HEALTH_ALERT_CHAT_A_BOT_TOKEN: createPatternSetting(
    /^\d+:[\w-]+$/,
    'must be the token of a bot, such as 123456:ABC-DEF',
    {
      doc: 'Token of the Telegram bot that sends alerts.',
      audience: 'secret',
    },
  ),
  HEALTH_ALERT_CHAT_A_CHAT_ID: createPatternSetting(
    /^(-?\d+|@\w+)$/,
    'must be the number of a chat, or the @name of a channel',
    {
      doc: 'Telegram chat that receives alerts: its numeric ID, or the @name of a channel.',
    },
  ),
  HEALTH_ALERT_CHAT_A_ENABLED: flagSetting(true, 'Whether the Telegram chat receives alerts.'),
  HEALTH_ALERT_CHAT_A_MIN_SEVERITY: createMinSeveritySetting('Minimum severity for Telegram.'),
} as const

/** A Telegram chat with a bot. A message sent twice is shown twice; a recovery is a separate message. */
export const telegramChannel: Channel = {
  id: 'chat-a',
  words: { name: 'Telegram', doc: 'Sends to a chat through a bot.' },
  settings,
  isPaging: false,
  // Telegram allows 20 messages a minute per group, including bursts.
  limits: { concurrency: 1, perSecond: 0.25, burst: 5, groupAfter: 3 },
  targets(env) {
    const values = parseSettings(settings, env)
    const { HEALTH_ALERT_CHAT_A_BOT_TOKEN: token, HEALTH_ALERT_CHAT_A_CHAT_ID: chat } = values
    if (token === undefined || chat === undefined) return []
    return [
      {
        id: 'default',
        name: 'chat-a',
        isEnabled: values.HEALTH_ALERT_CHAT_A_ENABLED,
        minSeverity: values.HEALTH_ALERT_CHAT_A_MIN_SEVERITY ?? null,
        send: async (message, way) => {
          const post = (to: string) =>
            sendTo(way, { url: `https://api.telegram.org/bot${token}/sendMessage`, to, message })
          const { result, movedTo } = await post(chat)
          if (movedTo === undefined) return result
          const again = await post(movedTo)
          return again.result.kind === 'ok'
            ? { kind: 'ok', remark: `the chat has a new ID, "${movedTo}"; update HEALTH_ALERT_CHAT_A_CHAT_ID` }
            : again.result
        },
      },
    ]
  },
}

interface SendOptions {
  url: string
  to: string
  message: Message
}

/** Sends to one chat. If a group became a supergroup, the error response contains its new id, returned as `movedTo`. */
const sendTo = async (
  way: Parameters<typeof sendChannelRequest>[0],
  { url, to, message }: SendOptions,
): Promise<{ result: SendResult; movedTo: string | undefined }> => {
  let movedTo: string | undefined
  const result = await sendChannelRequest(way, {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      chat_id: to,
      text: renderHtml(message),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }),
    // A send may need two requests, so each request has half of `maxSendMs`.
    timeoutMs: maxSendMs / 2,
    classify: (response) => {
      movedTo = Reply.safeParse(response.body).data?.parameters?.migrate_to_chat_id?.toString()
      return classify(response)
    },
  })
  return { result, movedTo }
}

/** Maximum length without markup. */
const maxText = 4_096
const maxHeadline = 400
const linkLabel = 'Open'

const renderHtml = (message: Message): string => {
  const { url, origin } = message
  const headline = truncateText(message.headline, maxHeadline)
  const link = url === null ? '' : `\n\n<a href="${escapeHtml(url)}">${linkLabel}</a>`
  const room = maxText - [headline, linkLabel, origin].join('\n\n\n').length
  return `<b>${escapeMarkup(headline)}</b>\n${escapeMarkup(truncateText(renderBody(message), room))}${link}\n<i>${origin}</i>`
}

const Reply = z.object({
  ok: z.boolean(),
  description: z.string().optional(),
  parameters: z.object({ migrate_to_chat_id: z.int().optional() }).optional(),
})

/** Most errors have status 400; only the description distinguishes an invalid chat from an invalid text. */
const invalidChatPattern =
  /chat not found|chat_id is empty|upgraded to a supergroup|PEER_ID_INVALID|CHAT_WRITE_FORBIDDEN|no rights to send|not enough rights/i

const classify = ({ status, body }: ChannelResponse): SendResult | undefined => {
  const reply = Reply.safeParse(body).data
  if (status === 200 && reply?.ok !== true) return { kind: 'retry', reason: 'rejected the message with HTTP 200' }
  return status === 400 && invalidChatPattern.test(reply?.description ?? '')
    ? { kind: 'config', reason: 'the chat does not accept messages from this bot' }
    : undefined
}
