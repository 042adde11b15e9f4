const ellipsis = '…'
const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** A text of at most so many UTF-16 units, cut between characters as people see them; what is cut ends in an ellipsis. */
export const cut = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  if (maxLength < 1) return ''
  let length = 0
  // One character may have many units: only what can stand before the cut is looked at.
  for (const { segment, index } of segments.segment(text.slice(0, maxLength + longestCharacter))) {
    if (index + segment.length > maxLength - ellipsis.length) break
    length = index + segment.length
  }
  return text.slice(0, length) + ellipsis
}

const longestCharacter = 64
