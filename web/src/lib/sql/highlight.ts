import { highlightCode } from '@lezer/highlight'
import { clickhouse, colors } from './dialect.ts'
import { emptyVocabulary } from './vocabulary.ts'

/** A token of a statement and its CSS classes. */
export interface Piece {
  text: string
  classes: string
}

/** Splits a statement into tokens with the colours of the editor. */
export const highlightSql = (sql: string): Piece[] => {
  const pieces: Piece[] = []
  const put = (text: string, classes: string) => void pieces.push({ text, classes })
  highlightCode(sql, clickhouse(emptyVocabulary).language.parser.parse(sql), colors, put, () => put('\n', ''))
  return pieces
}
