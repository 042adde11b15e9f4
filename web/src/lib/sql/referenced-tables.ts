/** A table reference in a statement, as written. */
export interface TableReference {
  database: string | null
  table: string
  alias: string | null
}

const name = String.raw`(?:\`[^\`]+\`|"[^"]+"|[A-Za-z_]\w*\b)`
/** Keywords that may follow a table name and therefore are not aliases. */
const nonAliasKeyword = String.raw`(?:ALL|ANTI|ANY|ARRAY|ASOF|CROSS|EXCEPT|FINAL|FORMAT|FULL|GLOBAL|GROUP|HAVING|INNER|INTERSECT|JOIN|LEFT|LIMIT|OFFSET|ON|ORDER|PASTE|PREWHERE|QUALIFY|RIGHT|SAMPLE|SEMI|SETTINGS|UNION|USING|WHERE|WINDOW|WITH)\b`
const pattern = new RegExp(
  String.raw`\b(?:FROM|JOIN)\s+(?:(?<database>${name})\s*\.\s*)?(?<table>${name})(?!\s*\()(?:\s+(?:AS\s+)?(?!${nonAliasKeyword})(?<alias>${name}))?`,
  'gi',
)

/** Returns the tables after FROM and JOIN. It is a heuristic, sufficient for completion. */
export const findReferencedTables = (statement: string): TableReference[] =>
  [...statement.matchAll(pattern)].flatMap(({ groups }) => {
    const { database, table, alias } = groups ?? {}
    return table
      ? [
          {
            database: unquoteIdentifier(database),
            table: unquoteIdentifier(table) ?? table,
            alias: unquoteIdentifier(alias),
          },
        ]
      : []
  })

const unquoteIdentifier = (written: string | undefined): string | null => written?.replace(/^[`"]|[`"]$/g, '') ?? null

/** Quotes an identifier with backticks if necessary. */
export const quoteIdentifier = (identifier: string): string =>
  /^[A-Za-z_]\w*$/.test(identifier) ? identifier : `\`${identifier.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
