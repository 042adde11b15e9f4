/** A text fragment, or the id of evidence. */
export interface TextFragment {
  text: string
  evidence: boolean
}

const reference = /\[(e[1-9]\d{0,3}(?:\s*,\s*e[1-9]\d{0,3})*)\]/g

/** Splits text at references to evidence, such as `It is slow [e1, e2].` */
export const splitAtReferences = (text: string): TextFragment[] => {
  const found: TextFragment[] = []
  let from = 0
  for (const match of text.matchAll(reference)) {
    found.push({ text: text.slice(from, match.index), evidence: false })
    for (const id of (match[1] ?? '').split(',')) found.push({ text: id.trim(), evidence: true })
    from = match.index + match[0].length
  }
  found.push({ text: text.slice(from), evidence: false })
  return found.filter(({ text: words }) => words !== '')
}
