import type { TruncatedValue } from '#shared/text/truncate-to-size.ts'

/**
 * Wraps a tool result in `<data>` tags, which the prompt explains. Escapes each `<` in the result, so that the result
 * cannot close the tag.
 */
export const wrapInDataTags = ({ value, cut }: TruncatedValue, source: 'host' | 'outside' = 'host'): string => {
  const json = (JSON.stringify(value) ?? 'null').replaceAll('<', String.raw`\u003c`)
  const note = cut
    ? '\nThis result is incomplete: lists and texts are truncated. Narrow the request to see the rest.'
    : ''
  return `<data from="${source}">${json}</data>${note}`
}
