import { highlightCode } from '@lezer/highlight'
import { createClickHouseDialect, sqlHighlighter } from './dialect.ts'
import { emptyVocabulary } from './vocabulary.ts'

/** A token of a statement and its CSS classes. */
export interface SqlToken {
  text: string
  classes: string
}

/** Splits a statement into tokens with the colours of the editor. */
export const highlightSql = (sql: string): SqlToken[] => {
  const pieces: SqlToken[] = []
  const put = (text: string, classes: string) => void pieces.push({ text, classes })
  highlightCode(sql, createClickHouseDialect(emptyVocabulary).language.parser.parse(sql), sqlHighlighter, put, () =>
    put('\n', ''),
  )
  return pieces
}
