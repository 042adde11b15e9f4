import { truncateText, truncateAndEscape, escapeHtml } from '../../messages/text.ts'
import type { Message } from '../../messages/message.ts'
import type { WebhookFormat } from './format.ts'

/** Maximum lengths that keep a message below the limit of Google Chat, which is 32,000 bytes. */
const maxTitle = 200
const maxFacts = 20
const maxFact = 250
const maxText = 2_500

/** Format for Google Chat webhooks: a card, because plain text can mention everyone in the space. */
export const googleChatFormat: WebhookFormat = {
  compose: ({ message, write }) => {
    const { headline, url, origin } = message
    const { title } = write((text) => text)
    const { body } = write(escapeHtml)
    const open = { buttonList: { buttons: [{ text: 'Open', onClick: { openLink: { url } } }] } }
    const widgets = [
      ...(body === undefined ? buildWidgets(message) : [buildParagraph(body)]),
      ...(url === null ? [] : [open]),
      buildParagraph(`<i>${origin}</i>`),
    ]
    const head = truncateText(title ?? headline, maxTitle)
    const card = { header: { title: head }, sections: [{ widgets }] }
    return { body: { fallbackText: head, cardsV2: [{ cardId: 'alert', card }] } }
  },
}

const buildParagraph = (text: string) => ({ textParagraph: { text: text.replaceAll('\n', '<br>') } })

const buildWidgets = ({ facts, gathered, runbook }: Message): object[] => {
  const text = [gathered.join('\n'), runbook].filter((part) => part !== '').join('\n\n')
  const labelled = facts.slice(0, maxFacts).map(({ label, value }) => ({
    decoratedText: { topLabel: label, text: truncateAndEscape(value, maxFact, escapeHtml), wrapText: true },
  }))
  return text === '' ? labelled : [...labelled, buildParagraph(truncateAndEscape(text, maxText, escapeHtml))]
}
