import type { ExplainNode } from '#proto/explain.ts'

/** A table within a statement; its number is what columns refer to. */
export interface TableNode {
  id: string
  /** `database.table`, without quotes. */
  name: string
  isFinal: boolean
}

/** A SELECT within a statement: the tables it joins, and its clauses. */
export interface SelectNode {
  tables: TableNode[]
  /** Whether it reads one table and nothing else. */
  isPlain: boolean
  where: ExplainNode[]
  clause(name: string): ExplainNode[]
  node: ExplainNode
}

/** All SELECTs of a query tree, the outermost first. */
export const selectsOf = (roots: readonly ExplainNode[]): SelectNode[] =>
  within(roots, () => true)
    .filter(({ name }) => name === 'QUERY')
    .map((node) => {
      const clause = (name: string) => node.children.find((child) => child.name === name)?.children ?? []
      const joined = clause('JOIN TREE')
      const tables = within(joined, ({ name }) => !isQuery(name)).flatMap((each) => tableOf(each) ?? [])
      return {
        tables,
        isPlain: joined.length === 1 && joined[0]?.name === 'TABLE',
        where: [...clause('PREWHERE'), ...clause('WHERE')].flatMap(conjuncts),
        clause,
        node,
      }
    })

/** Nodes of a tree in its order; those under a node that is not entered are left out with it. */
export const within = (nodes: readonly ExplainNode[], enter: (node: ExplainNode) => boolean): ExplainNode[] =>
  nodes.filter(enter).flatMap((node) => [node, ...within(node.children, enter)])

/** The column that a node is, and the number of its table. */
export const columnOf = ({ name, description }: ExplainNode): { column: string; source: string } | undefined => {
  if (name !== 'COLUMN') return undefined
  const [, column, source] = /, column_name: (.*), result_type: .*, source_id: (\d+)$/s.exec(description ?? '') ?? []
  return column === undefined || source === undefined ? undefined : { column, source }
}

/** The function that a node calls, and with what. */
export const functionOf = (node: ExplainNode): { name: string; kind: string; arguments: ExplainNode[] } | undefined => {
  const found = /^id: \d+(?:, alias: .*?)?, function_name: (\w+), function_type: (\w+)/s.exec(node.description ?? '')
  const [, name, kind] = found ?? []
  if (node.name !== 'FUNCTION' || name === undefined || kind === undefined) return undefined
  return { name, kind, arguments: listOf(node, 'ARGUMENTS') }
}

/** The nodes of a list that hangs under a node. */
export const listOf = (node: ExplainNode, name: string): ExplainNode[] =>
  node.children.find((child) => child.name === name)?.children[0]?.children ?? []

const isQuery = (name: string): boolean => name === 'QUERY' || name === 'UNION'

const tableOf = ({ name, description }: ExplainNode): TableNode | undefined => {
  const found = /^id: (\d+)(?:, alias: .*?)?, table_name: (.*?)(, final: \w+)?(?:, (?:sample|offset)_.*)?$/s.exec(
    description ?? '',
  )
  const [, id, table, final] = found ?? []
  if (name !== 'TABLE' || id === undefined || table === undefined) return undefined
  return { id, name: table, isFinal: final !== undefined }
}

const conjuncts = (node: ExplainNode): ExplainNode[] => {
  const called = functionOf(node)
  return called?.name === 'and' ? called.arguments.flatMap(conjuncts) : [node]
}
