import { z } from 'zod'
import type { ChannelRig } from './channel-rig.ts'
import { startStrictServer } from './strict-server.ts'

const Body = z.strictObject({
  chat_id: z.enum(['-100123', '-4711']),
  text: z.string().min(1),
  parse_mode: z.literal('HTML'),
  link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
})

const token = '123456:secret-of-the-bot'

/** The HTML elements that Telegram supports and the channel uses. */
const tags = /<\/?[bi]>|<a href="https?:[^"<>]*">|<\/a>/g

/** Returns the visible text; undefined if the HTML is malformed. */
const extractVisibleText = (html: string): string | undefined => {
  const text = html.replaceAll(tags, '')
  if (/[<>]|&(?!(amp|lt|gt|quot|#39);)/.test(text)) return undefined
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** Rig with the Bot API of Telegram. */
export const telegramRig: ChannelRig = {
  id: 'chat-a',
  standsFor: ['https://api.telegram.org'],
  ownAddress: true,
  start: () =>
    startStrictServer({
      answer: { status: 200, body: JSON.stringify({ ok: true, result: { message_id: 1 } }) },
      problem({ method, path, headers, text }) {
        if (method !== 'POST' || path !== `/bot${token}/sendMessage`) return 'Not Found'
        if (headers['content-type'] !== 'application/json') return 'not JSON'
        const body = Body.safeParse(JSON.parse(text))
        if (!body.success) return body.error.message
        const seen = extractVisibleText(body.data.text)
        if (seen === undefined) return "can't parse entities"
        return seen.length <= 4_096 ? undefined : 'message is too long'
      },
    }),
  env: () => ({ HEALTH_ALERT_CHAT_A_BOT_TOKEN: token, HEALTH_ALERT_CHAT_A_CHAT_ID: '-100123' }),
  secrets: () => ['secret-of-the-bot'],
  switchVariable: 'HEALTH_ALERT_CHAT_A_ENABLED',
  minSeverityVariable: 'HEALTH_ALERT_CHAT_A_MIN_SEVERITY',
  minimum: 'warning',
  textOf: ({ text }) => extractVisibleText(Body.parse(JSON.parse(text)).text) ?? '',
  dead: { status: 400, body: JSON.stringify({ ok: false, description: 'Bad Request: chat not found' }) },
}
