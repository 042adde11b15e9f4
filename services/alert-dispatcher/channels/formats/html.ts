import { cut, cutInMarkup, escapeHtml } from '../../messages/text.ts'
import { bodyText, type Message, plainText } from '../../messages/message.ts'
import type { Composing } from './format.ts'

const maxHeadline = 500
const maxFact = 600
const maxText = 4_000

/** A message as HTML, in elements that every client shows. */
export const htmlOf = ({ message, write }: Pick<Composing, 'message' | 'write'>): string => {
  const { headline, url } = message
  const { title, body } = write(escapeHtml)
  const lines = [
    `<strong>${title ?? cutInMarkup(headline, maxHeadline, escapeHtml)}</strong>`,
    ...(body === undefined ? linesOf(message) : [body]),
    ...(url === null ? [] : [`<a href="${escapeHtml(url)}">Open</a>`]),
  ]
  return lines.join('<br>').replaceAll('\n', '<br>')
}

const linesOf = ({ facts, gathered, runbook }: Message): string[] => [
  ...facts.map(({ label, value }) => `${escapeHtml(label)}: ${cutInMarkup(value, maxFact, escapeHtml)}`),
  ...[gathered.join('\n'), runbook].filter((text) => text !== '').map((text) => cutInMarkup(text, maxText, escapeHtml)),
]

const maxPlain = 4_000

/** The same without markup, for clients and notifications that show none. */
export const plainOf = ({ message, write }: Pick<Composing, 'message' | 'write'>): string => {
  const { title, body } = write((text) => text)
  if (title === undefined && body === undefined) return plainText(message, maxPlain)
  const lines = [title ?? message.headline, cut(body ?? bodyText(message), maxPlain), message.url]
  return lines.filter((line) => line !== null).join('\n')
}
