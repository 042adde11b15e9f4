/** Returns a test for a pattern with NATS rules: `*` matches one token, a trailing `>` one or more. */
export const matcher = (pattern: string): ((subject: string) => boolean) => {
  const wild = pattern.search(/[*>]/)
  if (wild === -1) return (subject) => subject === pattern
  const start = pattern.slice(0, wild)
  // Inboxes, which hear most, are of this form, and nothing of it need be split.
  if (start.endsWith('.') && pattern === `${start}*`)
    return (subject) =>
      subject.startsWith(start) && subject.length > start.length && !subject.includes('.', start.length)
  const tokens = pattern.split('.')
  const open = tokens.at(-1) === '>'
  const fixed = open ? tokens.slice(0, -1) : tokens
  return (subject) => {
    // Most subjects fail here, before anything is split.
    if (!subject.startsWith(start)) return false
    const parts = subject.split('.')
    if (open ? parts.length <= fixed.length : parts.length !== fixed.length) return false
    return fixed.every((token, index) => token === '*' || token === parts[index])
  }
}
