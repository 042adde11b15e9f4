import type { Block, Document } from './document.ts'

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
