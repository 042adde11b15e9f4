import { sparkline } from './bars.ts'
import type { Block, Document } from './document.ts'

/** Text that stands for itself, on one line: nothing in it is markup, a list, HTML or an address that becomes a link. */
export const escapeMarkdown = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]#!|<>~&@]/g, String.raw`\$&`)
    .replaceAll('://', String.raw`:\/\/`)
    .replaceAll(/www\./gi, String.raw`www\.`)
    .replace(/^[-+]/, String.raw`\$&`)
    .replace(/^(\d+)([.)])(?=\s|$)/, String.raw`$1\$2`)

/** A report in Markdown as GitHub reads it. */
export const markdown = ({ title, subtitle, verdict, sections }: Document): string =>
  [
    `# ${escapeMarkdown(title)}`,
    escapeMarkdown(subtitle),
    `**${escapeMarkdown(verdict)}**`,
    ...sections.flatMap((section) => [`## ${escapeMarkdown(section.title)}`, ...section.blocks.map(block)]),
  ]
    .filter((part) => part !== '')
    .join('\n\n') + '\n'

const block = (told: Block): string => {
  switch (told.kind) {
    case 'text':
      return escapeMarkdown(told.text)
    case 'statement':
      return fenced(told.sql)
    case 'chart':
      return `${escapeMarkdown(told.title)}, at most ${escapeMarkdown(told.highest)}:\n\n\`${sparkline(told.values)}\``
    case 'table':
      return table(told)
  }
}

/** A fence longer than any row of backticks within. */
const fenced = (sql: string): string => {
  const longest = Math.max(2, ...[...sql.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}sql\n${sql}\n${fence}`
}

const table = ({ columns, rows }: Block & { kind: 'table' }): string => {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => escapeMarkdown(title))),
    line(columns.map(({ isNumber }) => (isNumber ? '--:' : '---'))),
    ...rows.map((row) => line(row.map(escapeMarkdown))),
  ].join('\n')
}

/** A report as plain text, without the statements that show what is said. */
export const plain = ({ title, subtitle, verdict, sections }: Document): string =>
  [
    title,
    subtitle,
    verdict,
    ...sections.flatMap((section) => ['', section.title, ...section.blocks.flatMap(linesOf)]),
  ].join('\n')

const linesOf = (block: Block): string[] => {
  switch (block.kind) {
    case 'text':
      return [block.text]
    case 'statement':
      return []
    case 'chart':
      return [`${block.title}: at most ${block.highest}`]
    case 'table':
      return [block.columns.map((column) => column.title), ...block.rows].map((cells) => cells.join(' | '))
  }
}
