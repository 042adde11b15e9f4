/**
 * A fragment of an answer. If `evidence` is true, `text` is a reference: an evidence id such as `e1`, or the mark of an
 * unproven claim. The mark `!0` refers to the first claim.
 */
export interface TextFragment {
  text: string
  evidence: boolean
}

const citation = String.raw`\[e[1-9]\d{0,3}(?:\s*,\s*e[1-9]\d{0,3})*\]`
const reference = /\[(e[1-9]\d{0,3}(?:\s*,\s*e[1-9]\d{0,3})*|!\d{1,3})\]/g

/** A claim of an answer. `text` has no citations; `untraced` has the figures that the cited results do not support. */
export interface MarkableClaim {
  text: string
  untraced?: string[] | undefined
}

/** Inserts a mark such as `[!0]` after the last citation of each claim with unproven figures. */
export const markUnprovenClaims = (text: string, claims: readonly MarkableClaim[]): string => {
  let marked = text
  for (const [index, claim] of claims.entries()) {
    if (!claim.untraced?.length) continue
    // The service removes citations and collapses white space, so both may occur between any two pieces of the claim.
    const pieces = claim.text.match(/[.,;!?]+|[^\s.,;!?]+/g) ?? []
    const escaped = pieces.map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
    const pattern = new RegExp(String.raw`${escaped.join(`(?:\\s|${citation})*`)}(?:\s*${citation})*`)
    marked = marked.replace(pattern, (found) => {
      const end = [...found.matchAll(new RegExp(citation, 'g'))].at(-1)
      const at = end ? end.index + end[0].length : found.length
      return `${found.slice(0, at)} [!${index}]${found.slice(at)}`
    })
  }
  return marked
}

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
