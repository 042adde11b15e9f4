import { truncateText, truncateAndEscape, escapeHtml } from '../../messages/text.ts'
import { renderBody, type Message, toPlainText } from '../../messages/message.ts'
import type { RenderContext } from './format.ts'

const maxHeadline = 500
const maxFact = 600
const maxText = 4_000

/** Renders a message as HTML with elements that every client supports. */
export const renderHtml = ({ message, write }: Pick<RenderContext, 'message' | 'write'>): string => {
  const { headline, url } = message
  const { title, body } = write(escapeHtml)
  const lines = [
    `<strong>${title ?? truncateAndEscape(headline, maxHeadline, escapeHtml)}</strong>`,
    ...(body === undefined ? renderLines(message) : [body]),
    ...(url === null ? [] : [`<a href="${escapeHtml(url)}">Open</a>`]),
  ]
  return lines.join('<br>').replaceAll('\n', '<br>')
}

const renderLines = ({ facts, gathered, runbook }: Message): string[] => [
  ...facts.map(({ label, value }) => `${escapeHtml(label)}: ${truncateAndEscape(value, maxFact, escapeHtml)}`),
  ...[gathered.join('\n'), runbook]
    .filter((text) => text !== '')
    .map((text) => truncateAndEscape(text, maxText, escapeHtml)),
]

const maxPlain = 4_000

/** Renders the message as plain text for clients and notifications without markup. */
export const renderPlainMessage = ({ message, write }: Pick<RenderContext, 'message' | 'write'>): string => {
  const { title, body } = write((text) => text)
  if (title === undefined && body === undefined) return toPlainText(message, maxPlain)
  const lines = [title ?? message.headline, truncateText(body ?? renderBody(message), maxPlain), message.url]
  return lines.filter((line) => line !== null).join('\n')
}
