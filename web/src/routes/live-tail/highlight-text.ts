export interface TextPiece {
  text: string
  isMatch: boolean
}

/** Splits a text at the occurrences of a word, regardless of case. */
export const splitHighlights = (text: string, word: string): TextPiece[] => {
  if (word === '') return [{ text, isMatch: false }]
  const [lower, wanted] = [text.toLowerCase(), word.toLowerCase()]
  // A change of case may change the length of a text, so that positions would be wrong.
  if (lower.length !== text.length) return [{ text, isMatch: false }]
  const pieces: TextPiece[] = []
  let start = 0
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, start)) {
    if (at > start) pieces.push({ text: text.slice(start, at), isMatch: false })
    pieces.push({ text: text.slice(at, at + wanted.length), isMatch: true })
    start = at + wanted.length
  }
  if (start < text.length || pieces.length === 0) pieces.push({ text: text.slice(start), isMatch: false })
  return pieces
}
