const ellipsis = '…'
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** How much room a text takes: at least its UTF-16 units. */
export type SizeOf = (text: string) => number

const unitsOf: SizeOf = ({ length }) => length
/** In a JSON document of UTF-8. */
export const jsonBytesOf: SizeOf = (text) => Buffer.byteLength(JSON.stringify(text)) - '""'.length

/** A text of at most so many UTF-16 units, or of another size, cut between characters as people see them; what is cut ends in an ellipsis. */
export const cut = (text: string, maxSize: number, sizeOf: SizeOf = unitsOf): string => {
  if (text.length <= maxSize && sizeOf(text) <= maxSize) return text
  let room = maxSize - sizeOf(ellipsis)
  if (room < 0) return ''
  let length = 0
  // One character may have many units: only what can stand before the cut is looked at.
  for (const { segment, index } of segments.segment(text.slice(0, maxSize + longestCharacter))) {
    room -= sizeOf(segment)
    if (room < 0) break
    length = index + segment.length
  }
  return text.slice(0, length) + ellipsis
}

const longestCharacter = 64

/** A text cut so that in its markup it takes at most so many units: cut first, so that no markup is cut in two. */
export const cutInMarkup = (text: string, maxLength: number, escape: (text: string) => string): string =>
  escape(cut(text, maxLength, (part) => escape(part).length))
