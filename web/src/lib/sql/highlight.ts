import { highlightCode } from '@lezer/highlight'
import { clickhouse, colors } from './dialect.ts'
import { noVocabulary } from './vocabulary.ts'

/** A piece of a statement and the classes of its colour. */
export interface Piece {
  text: string
  classes: string
}

/** A statement in pieces that are coloured as the editor colours them. */
export const highlighted = (sql: string): Piece[] => {
  const pieces: Piece[] = []
  const put = (text: string, classes: string) => void pieces.push({ text, classes })
  highlightCode(sql, clickhouse(noVocabulary).language.parser.parse(sql), colors, put, () => put('\n', ''))
  return pieces
}
