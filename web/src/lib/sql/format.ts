import { clickhouse, formatDialect } from 'sql-formatter'

/** Formats a statement with one clause per line. Throws if it cannot be parsed. */
export const formatSql = (sql: string): string =>
  formatDialect(sql, { dialect: clickhouse, keywordCase: 'upper', tabWidth: 2 })
