/** The rest of a comment from here on; comments of PostgreSQL may hold others. */
const blockComment = (text: string, start: number): number => {
  let depth = 0
  const edge = /\/\*|\*\//g
  edge.lastIndex = start
  for (let found = edge.exec(text); found; found = edge.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return edge.lastIndex
  }
  return text.length
}

/**
 * One piece of a statement at a time. Texts that lack their end are cut ones, and go on to the end. `escaped` and `plain` are
 * literals, `quoted` is a name, `tag` begins a text in dollars, and `number` stands for itself alone.
 */
const piece =
  /(?<line>--[^\n]*)|(?<block>\/\*)|(?<escaped>[eE]'(?:[^'\\]|\\[^]|'')*(?:'|\\?$))|(?<plain>(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$))|(?<tag>\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|(?<word>\$\d+|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)|(?<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)|(?<space>\s+)|(?<sign>[^])/gy

/**
 * A statement of PostgreSQL with a question mark for each value and without comments, so that nothing of people or secrets is
 * left in it. Cut statements may end within a value.
 */
export const withoutValues = (text: string): string => {
  let shown = ''
  piece.lastIndex = 0
  for (let found = piece.exec(text); found; found = piece.exec(text)) {
    const { line, block, quoted, tag, word, space, sign } = found.groups ?? {}
    if (block !== undefined) piece.lastIndex = blockComment(text, found.index)
    if (tag !== undefined) piece.lastIndex = endOf(text, tag, piece.lastIndex)
    if (line !== undefined || block !== undefined || space !== undefined) shown += ' '
    else shown += quoted ?? word ?? sign ?? '?'
  }
  return shown.replace(/ {2,}/g, ' ').trim()
}

const endOf = (text: string, tag: string, from: number): number => {
  const end = text.indexOf(tag, from)
  return end < 0 ? text.length : end + tag.length
}

/** PostgreSQL hides no secret of statements that make roles, servers or subscriptions, or that connect elsewhere. */
const mayHoldSecret = /passw|secret|token|credential|:\/\/|crypt|_key\b/i

/** A statement as people may see it: with its values, unless one of them may be a secret. */
export const forPeople = (text: string): string => (mayHoldSecret.test(text) ? withoutValues(text) : text)
