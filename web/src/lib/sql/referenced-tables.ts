/** A table that a statement reads, as it is written there. */
export interface Reference {
  database: string | null
  table: string
  alias: string | null
}

const name = String.raw`(?:\`[^\`]+\`|"[^"]+"|[A-Za-z_]\w*\b)`
/** Words after a table that are no alias of it. */
const noAlias = String.raw`(?:ALL|ANTI|ANY|ARRAY|ASOF|CROSS|EXCEPT|FINAL|FORMAT|FULL|GLOBAL|GROUP|HAVING|INNER|INTERSECT|JOIN|LEFT|LIMIT|OFFSET|ON|ORDER|PASTE|PREWHERE|QUALIFY|RIGHT|SAMPLE|SEMI|SETTINGS|UNION|USING|WHERE|WINDOW|WITH)\b`
const pattern = new RegExp(
  String.raw`\b(?:FROM|JOIN)\s+(?:(?<database>${name})\s*\.\s*)?(?<table>${name})(?!\s*\()(?:\s+(?:AS\s+)?(?!${noAlias})(?<alias>${name}))?`,
  'gi',
)

/** The tables that a statement names after FROM and JOIN; good enough to offer their columns. */
export const referencedTables = (statement: string): Reference[] =>
  [...statement.matchAll(pattern)].flatMap(({ groups }) => {
    const { database, table, alias } = groups ?? {}
    return table ? [{ database: plain(database), table: plain(table) ?? table, alias: plain(alias) }] : []
  })

const plain = (written: string | undefined): string | null => written?.replace(/^[`"]|[`"]$/g, '') ?? null

/** A name as a statement takes it. */
export const written = (given: string): string =>
  /^[A-Za-z_]\w*$/.test(given) ? given : `\`${given.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
