import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import { findReferencedTables, quoteIdentifier, type TableReference } from './referenced-tables.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A column in the completion list. */
export interface CompletionColumn {
  name: string
  type: string
}

export interface CompletionProviders {
  /** Returns the vocabulary of the host. Completion waits for it. */
  vocabulary: () => Promise<Vocabulary>
  /** Returns the database in which unqualified table names are resolved. */
  database: () => string
  /** Returns the columns of a table; empty if it does not exist. */
  columns: (database: string, table: string) => Promise<readonly CompletionColumn[]>
  /** Returns the syntax and description of a function; null if they are unknown. */
  about: (name: string) => Promise<string | null>
  /** Returns the statement around a position. */
  statementAt: (context: CompletionContext) => string
}

/** Maximum number of tables per statement whose columns are fetched. */
const maxReferences = 8

const columnBoost = { boost: 10 }
const tableBoost = { boost: 5 }

/** Creates a source that offers columns of referenced tables first, then tables, functions and keywords of the host. */
export const createCompletionSource =
  (offers: CompletionProviders): CompletionSource =>
  async (context): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\w`"]+(?:\.[\w`"]*)*/)
    if (!word && !context.explicit) return null
    const text = word?.text ?? ''
    const dot = text.lastIndexOf('.')
    const from = (word?.from ?? context.pos) + dot + 1
    const references = findReferencedTables(offers.statementAt(context)).slice(0, maxReferences)
    const vocabulary = await offers.vocabulary()
    const options =
      dot >= 0
        ? await completeAfterDot(offers, vocabulary, references, text.slice(0, dot).replaceAll(/[`"]/g, ''))
        : [...(await completeColumns(offers, vocabulary, references)), ...completeNames(vocabulary, offers)]
    return context.aborted ? null : { from, options, validFor: /^[\w`"]*$/ }
  }

/** Completes the text after a dot: tables of a database, or columns of a table or an alias. */
const completeAfterDot = async (
  offers: CompletionProviders,
  vocabulary: Vocabulary,
  references: readonly TableReference[],
  owner: string,
): Promise<Completion[]> => {
  const [table = '', database] = owner.split('.').toReversed()
  const matching = references.filter((each) => each.alias === owner || each.table === owner)
  const candidates = database === undefined ? matching : [{ database, table, alias: null }]
  return [
    ...(await completeColumns(offers, vocabulary, candidates)),
    ...vocabulary.tables
      .filter(({ database }) => database === owner)
      .map(({ table, engine }) => ({ label: table, apply: quoteIdentifier(table), type: 'class', detail: engine })),
  ]
}

/** System databases. The vocabulary does not include their tables. */
const systemDatabases = new Set(['system', 'information_schema', 'INFORMATION_SCHEMA'])

/** Returns whether a table may exist, so that incomplete names cause no requests while the user is typing. */
const mayBeTable = ({ tables, areAllTables }: Vocabulary, database: string, table: string): boolean =>
  systemDatabases.has(database) ||
  !areAllTables ||
  tables.some((each) => each.database === database && each.table === table)

const completeColumns = async (
  offers: CompletionProviders,
  vocabulary: Vocabulary,
  references: readonly TableReference[],
): Promise<Completion[]> => {
  const found = await Promise.all(
    references.map(async ({ database: named, table }) => {
      const database = named ?? offers.database()
      const columns = mayBeTable(vocabulary, database, table) ? await offers.columns(database, table) : []
      return columns.map(({ name, type }) => ({
        label: name,
        apply: quoteIdentifier(name),
        type: 'property',
        detail: type,
        ...columnBoost,
      }))
    }),
  )
  return found.flat()
}

const completeNames = (
  { keywords, functions, types, tables }: Vocabulary,
  offers: CompletionProviders,
): Completion[] => {
  const here = offers.database()
  const databases = [...new Set(tables.map(({ database }) => database))]
  return [
    ...databases.map((name) => ({
      label: name,
      apply: `${quoteIdentifier(name)}.`,
      type: 'namespace',
      detail: 'database',
      ...tableBoost,
    })),
    ...tables
      .filter(({ database }) => database === here)
      .map(({ table, engine }) => ({
        label: table,
        apply: quoteIdentifier(table),
        type: 'class',
        detail: engine,
        ...tableBoost,
      })),
    ...functions.map(({ name, isAggregate }) => ({
      label: name,
      type: 'function',
      detail: isAggregate ? 'aggregate' : 'function',
      info: async () => renderDescription(await offers.about(name)),
    })),
    ...keywords.map((label) => ({ label, type: 'keyword', detail: 'keyword' })),
    ...types.map((label) => ({ label, type: 'type', detail: 'type' })),
  ]
}

const renderDescription = (text: string | null): Node | null => {
  if (!text) return null
  const node = document.createElement('div')
  // Descriptions are Markdown with relative links, so only the link text is kept.
  node.textContent = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\n{2,}/g, '\n\n')
  node.style.whiteSpace = 'pre-wrap'
  node.style.maxWidth = '24rem'
  node.style.maxHeight = '20rem'
  node.style.overflowY = 'auto'
  return node
}
