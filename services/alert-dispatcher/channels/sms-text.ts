import { type SizeOf, cut } from '../delivery/cut.ts'
import type { Message } from '../delivery/message.ts'

/** The alphabet of SMS (3GPP TS 23.038), and the characters that take two places in it. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('^{}\\[~]|€')

/** Two parts of a message; each further one costs as much again. */
const maxInAlphabet = 2 * 153
/** Three parts of a message with any other character, which is sent in UTF-16 and holds less. */
const maxElsewhere = 3 * 67

/** What fits into a few SMS: the headline, the value, the link and our name; what is long gives way, never the link. */
export const smsText = ({ headline, facts, url, origin }: Message): string => {
  const value = facts.find(({ label }) => label === 'Value')?.value
  const threshold = facts.find(({ label }) => label === 'Threshold')?.value
  const figures = [
    ...(value === undefined || headline.endsWith(`(${value})`) ? [] : [`value ${value}`]),
    ...(value === undefined || threshold === undefined ? [] : [`limit ${threshold}`]),
  ]
  const text = plain([headline, ...(figures.length > 0 ? [figures.join(', ')] : [])].join('\n'))
  const end = plain(['', ...(url === null || url.length > maxUrl ? [] : [url]), origin].join('\n'))
  const sizeOf = [...text, ...end].every((character) => basic.has(character) || extended.has(character))
    ? septetsOf
    : unitsOf
  const most = sizeOf === septetsOf ? maxInAlphabet : maxElsewhere
  return cut(text, most - sizeOf(end), sizeOf).replaceAll('…', '...') + end
}

/** A longer link leaves no room for what happened. */
const maxUrl = 80

/** An ellipsis will stand as three dots. */
const dots: SizeOf = (text) => 2 * (text.split('…').length - 1)
const unitsOf: SizeOf = (text) => text.length + dots(text)
const septetsOf: SizeOf = (text) => unitsOf(text) + [...text].filter((character) => extended.has(character)).length

const typographic: readonly (readonly [RegExp, string])[] = [
  [/[‘’‚′]/g, "'"],
  [/[“”„″]/g, '"'],
  [/[‐‑‒–—―]/g, '-'],
  [/…/g, '...'],
  [/[\u00A0\u2007\u202F]/g, ' '],
  [/µ|μ/g, 'u'],
  // Pictures and what shapes them.
  [/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200D|\u20E3|\uFE0E|\uFE0F/gu, ''],
]

/** Without pictures and typography, for the sake of which a message would take twice the room. */
const plain = (text: string): string =>
  typographic.reduce((written, [pattern, instead]) => written.replaceAll(pattern, instead), text)
