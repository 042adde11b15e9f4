import { clickhouse, formatDialect } from 'sql-formatter'

/** A statement laid out with a clause on each line; throws for what is no statement. */
export const formatted = (sql: string): string =>
  formatDialect(sql, { dialect: clickhouse, keywordCase: 'upper', tabWidth: 2 })
