import { serviceNames } from '#proto/call.ts'
import type { ValueEntry } from './values-file.ts'

/** Returns the README of the chart: the text of `introduction` up to `## Values`, then a table of all values. */
export const formatChartReadme = (introduction: string, entries: readonly ValueEntry[]): string => {
  const rows = entries
    .filter(({ path, doc }) => doc !== '' || isLeaf(path, entries))
    .map(({ path, fallback, doc, schema }) => {
      const allowed = Array.isArray(schema.enum) ? ` One of ${schema.enum.map((one) => `\`${one}\``).join(', ')}.` : ''
      return `| \`${path.join('.')}\` | ${formatDefault(fallback)} | ${escape(doc)}${allowed} |`
    })
  return [
    introduction.trimEnd(),
    '',
    '## Values',
    '',
    `The blocks under \`services\` (${serviceNames.map((name) => `\`${name}\``).join(', ')}), \`guest\` and \`single\` have the keys of \`defaults\`.`,
    '',
    '| Value | Default | Meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

const isLeaf = (path: readonly string[], entries: readonly ValueEntry[]): boolean =>
  !entries.some((other) => other.path.length > path.length && path.every((name, index) => other.path[index] === name))

const escape = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<')

const formatDefault = (value: unknown): string => {
  if (value === '') return 'empty'
  if (value === null || value === undefined) return 'none'
  const isFilled = typeof value === 'object' && Object.values(value).length > 0
  return isFilled && !Array.isArray(value) && JSON.stringify(value).length > 60
    ? 'see below'
    : `\`${JSON.stringify(value)}\``
}
