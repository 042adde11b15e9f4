import { formatSparkline } from './charts.ts'
import type { ReportBlock, ReportDocument } from './document.ts'

/** Escapes text for Markdown and joins its lines. The result cannot contain markup, lists, HTML or automatic links. */
export const escapeMarkdown = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]#!|<>~&@]/g, String.raw`\$&`)
    .replaceAll('://', String.raw`:\/\/`)
    .replaceAll(/www\./gi, String.raw`www\.`)
    .replace(/^[-+]/, String.raw`\$&`)
    .replace(/^(\d+)([.)])(?=\s|$)/, String.raw`$1\$2`)

/** Renders a report as GitHub Flavored Markdown. */
export const renderMarkdown = ({ title, subtitle, headline, sections }: ReportDocument): string =>
  [
    `# ${escapeMarkdown(title)}`,
    escapeMarkdown(subtitle),
    `**${escapeMarkdown(headline)}**`,
    ...sections.flatMap((section) => [`## ${escapeMarkdown(section.title)}`, ...section.blocks.map(renderBlock)]),
  ]
    .filter((part) => part !== '')
    .join('\n\n') + '\n'

const renderBlock = (block: ReportBlock): string => {
  switch (block.kind) {
    case 'text':
      return escapeMarkdown(block.text)
    case 'statement':
      return formatCodeBlock(block.sql)
    case 'chart':
      return `${escapeMarkdown(block.title)}, at most ${escapeMarkdown(block.highest)}:\n\n\`${formatSparkline(block.values)}\``
    case 'table':
      return renderTable(block)
  }
}

/** Returns a code block. Its fence is longer than any run of backticks in the statement. */
const formatCodeBlock = (sql: string): string => {
  const longest = Math.max(2, ...[...sql.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}sql\n${sql}\n${fence}`
}

const renderTable = ({ columns, rows }: ReportBlock & { kind: 'table' }): string => {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => escapeMarkdown(title))),
    line(columns.map(({ isNumber }) => (isNumber ? '--:' : '---'))),
    ...rows.map((row) => line(row.map(escapeMarkdown))),
  ].join('\n')
}

/** Renders a report as plain text without SQL statements. */
export const renderPlainText = ({ title, subtitle, headline, sections }: ReportDocument): string =>
  [
    title,
    subtitle,
    headline,
    ...sections.flatMap((section) => ['', section.title, ...section.blocks.flatMap(formatBlockLines)]),
  ].join('\n')

const formatBlockLines = (block: ReportBlock): string[] => {
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
