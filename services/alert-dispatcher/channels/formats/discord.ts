import { truncateAndEscape, escapeMarkdown } from '../../messages/text.ts'
import type { WebhookFormat } from './format.ts'

/** Discord allows 6,000 characters per embed and 256 for its title. */
const maxTitle = 256
const maxText = 1_300
const maxFields = 18
const maxName = 40
const maxValue = 200

/** Format for Discord webhooks. */
export const discordFormat: WebhookFormat = {
  compose: ({ message, write }) => {
    const { headline, facts, gathered, runbook, url, tone, origin } = message
    const { title, body } = write(escapeMarkdown)
    const text = [gathered.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
    const fields = facts.slice(0, maxFields).map(({ label, value }) => ({
      name: truncateAndEscape(label, maxName, escapeMarkdown),
      value: truncateAndEscape(value, maxValue, escapeMarkdown),
      inline: value.length <= 40,
    }))
    return {
      body: {
        username: 'Watchhouse',
        // Prevents alert texts from mentioning users.
        allowed_mentions: { parse: [] },
        embeds: [
          {
            title: title ?? truncateAndEscape(headline, maxTitle, escapeMarkdown),
            description: body ?? truncateAndEscape(text, maxText, escapeMarkdown),
            color: colors[tone],
            fields: body === undefined ? fields : [],
            footer: { text: origin },
            ...(url !== null && { url }),
          },
        ],
      },
    }
  },
}

const colors = { warning: 0xd97706, critical: 0xdc2626, over: 0x16a34a, plain: 0x2563eb } as const
