import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete'
import { referencedTables, written, type Reference } from './referenced-tables.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A column, as it is offered. */
export interface OfferedColumn {
  name: string
  type: string
}

export interface Offers {
  /** What is typed before it has come is completed when it comes. */
  vocabulary: () => Promise<Vocabulary>
  /** Where names without a database are looked up. */
  database: () => string
  /** Asked when a statement first names a table; empty for one that is not there. */
  columns: (database: string, table: string) => Promise<readonly OfferedColumn[]>
  /** How a function is called and what it does, in words. */
  about: (name: string) => Promise<string | null>
  /** The statement around a position. */
  statementAt: (context: CompletionContext) => string
}

/** Tables of one statement whose columns are looked up at most. */
const mostReferences = 8

const first = { boost: 10 }
const early = { boost: 5 }

/** What may stand at the cursor: columns of the tables of the statement, then tables, functions and keywords of the host. */
export const completing =
  (offers: Offers): CompletionSource =>
  async (context): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\w`"]+(?:\.[\w`"]*)*/)
    if (!word && !context.explicit) return null
    const text = word?.text ?? ''
    const dot = text.lastIndexOf('.')
    const from = (word?.from ?? context.pos) + dot + 1
    const references = referencedTables(offers.statementAt(context)).slice(0, mostReferences)
    const vocabulary = await offers.vocabulary()
    const options =
      dot >= 0
        ? await afterDot(offers, vocabulary, references, text.slice(0, dot).replaceAll(/[`"]/g, ''))
        : [...(await columnsOf(offers, vocabulary, references)), ...names(vocabulary, offers)]
    return context.aborted ? null : { from, options, validFor: /^[\w`"]*$/ }
  }

/** Tables of a database, or columns of a table or of what is called so in this statement. */
const afterDot = async (
  offers: Offers,
  vocabulary: Vocabulary,
  references: readonly Reference[],
  owner: string,
): Promise<Completion[]> => {
  const [table = '', database] = owner.split('.').toReversed()
  const meant = references.filter((each) => each.alias === owner || each.table === owner)
  const asked = database === undefined ? meant : [{ database, table, alias: null }]
  return [
    ...(await columnsOf(offers, vocabulary, asked)),
    ...vocabulary.tables
      .filter(({ database }) => database === owner)
      .map(({ table, engine }) => ({ label: table, apply: written(table), type: 'class', detail: engine })),
  ]
}

/** Databases of every host, whose tables it does not list. */
const unlisted = new Set(['system', 'information_schema', 'INFORMATION_SCHEMA'])

/** A name that is being written is mostly none of a table yet; the host is not asked about it. */
const mayBeTable = ({ tables, areAllTables }: Vocabulary, database: string, table: string): boolean =>
  unlisted.has(database) || !areAllTables || tables.some((each) => each.database === database && each.table === table)

const columnsOf = async (
  offers: Offers,
  vocabulary: Vocabulary,
  references: readonly Reference[],
): Promise<Completion[]> => {
  const found = await Promise.all(
    references.map(async ({ database: named, table }) => {
      const database = named ?? offers.database()
      const columns = mayBeTable(vocabulary, database, table) ? await offers.columns(database, table) : []
      return columns.map(({ name, type }) => ({
        label: name,
        apply: written(name),
        type: 'property',
        detail: type,
        ...first,
      }))
    }),
  )
  return found.flat()
}

const names = ({ keywords, functions, types, tables }: Vocabulary, offers: Offers): Completion[] => {
  const here = offers.database()
  const databases = [...new Set(tables.map(({ database }) => database))]
  return [
    ...databases.map((name) => ({
      label: name,
      apply: `${written(name)}.`,
      type: 'namespace',
      detail: 'database',
      ...early,
    })),
    ...tables
      .filter(({ database }) => database === here)
      .map(({ table, engine }) => ({ label: table, apply: written(table), type: 'class', detail: engine, ...early })),
    ...functions.map(({ name, isAggregate }) => ({
      label: name,
      type: 'function',
      detail: isAggregate ? 'aggregate' : 'function',
      info: async () => described(await offers.about(name)),
    })),
    ...keywords.map((label) => ({ label, type: 'keyword', detail: 'keyword' })),
    ...types.map((label) => ({ label, type: 'type', detail: 'type' })),
  ]
}

const described = (text: string | null): Node | null => {
  if (!text) return null
  const node = document.createElement('div')
  // Hosts write Markdown; what a link leads to is not on this page.
  node.textContent = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\n{2,}/g, '\n\n')
  node.style.whiteSpace = 'pre-wrap'
  node.style.maxWidth = '24rem'
  node.style.maxHeight = '20rem'
  node.style.overflowY = 'auto'
  return node
}
