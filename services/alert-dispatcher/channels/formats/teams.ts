import { truncateText, countJsonBytes, escapeMarkdown } from '../../messages/text.ts'
import type { Message } from '../../messages/message.ts'
import type { SendResult } from '../channel.ts'
import type { ChannelResponse } from '../channel-request.ts'
import type { WebhookFormat } from './format.ts'

/** Teams allows 28 KB per card. */
const maxHeadlineBytes = 1_000
const maxTextBytes = 8_000
const maxFacts = 20
const maxFactBytes = 400

/** Format for Teams workflows that post cards. */
export const teamsFormat: WebhookFormat = {
  compose: ({ message, write }) => {
    const { headline, tone, url, origin } = message
    const { title, body } = write(escapeMarkdown)
    const look = { weight: 'Bolder', size: 'Medium', color: colors[tone] }
    const head =
      title === undefined
        ? buildTextBlock([{ ...look, text: truncateText(headline, maxHeadlineBytes, countJsonBytes) }])
        : { type: 'TextBlock', wrap: true, ...look, text: title }
    const rest = body === undefined ? buildBlocks(message) : [{ type: 'TextBlock', wrap: true, text: body }]
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      msteams: { width: 'Full' },
      body: [head, ...rest, buildTextBlock([{ text: origin, isSubtle: true, size: 'Small' }])],
      actions: url === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open', url }],
    }
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
    return { body: { type: 'message', attachments: [attachment] } }
  },
  classify: ({ status, text }: ChannelResponse): SendResult | undefined =>
    status === 400 && /WorkflowTriggerIsNotEnabled|WorkflowNotEnabled/i.test(text)
      ? { kind: 'config', reason: 'its workflow is disabled' }
      : undefined,
}

const colors = { warning: 'Warning', critical: 'Attention', over: 'Good', plain: 'Default' } as const

interface Run {
  text: string
  weight?: string
  size?: string
  color?: string
  isSubtle?: boolean
}

/** Builds a text block from text runs, which show their text literally, without markup. */
const buildTextBlock = (inlines: readonly Run[]) => ({
  type: 'RichTextBlock',
  inlines: inlines.map((inline) => ({ type: 'TextRun', ...inline })),
})

const buildBlocks = ({ facts, gathered, runbook }: Message): object[] => {
  const text = [gathered.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
  const lines = facts
    .slice(0, maxFacts)
    .map(({ label, value }) =>
      buildTextBlock([
        { text: `${label}: `, weight: 'Bolder' },
        { text: truncateText(value, maxFactBytes, countJsonBytes) },
      ]),
    )
  return text === '' ? lines : [...lines, buildTextBlock([{ text: truncateText(text, maxTextBytes, countJsonBytes) }])]
}
