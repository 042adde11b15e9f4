import type { Shrunk } from './shrink.ts'

/**
 * A result as the model reads it: between marks that the prompt explains, which nothing inside can imitate, since JSON needs no `<`.
 */
export const asData = ({ value, cut }: Shrunk, source: 'host' | 'outside' = 'host'): string => {
  const json = (JSON.stringify(value) ?? 'null').replaceAll('<', String.raw`\u003c`)
  const note = cut ? '\nThis is a part: lists and texts are cut at their ends. Ask narrower to see the rest.' : ''
  return `<data from="${source}">${json}</data>${note}`
}
