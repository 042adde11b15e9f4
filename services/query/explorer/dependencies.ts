import { RE2JS } from 're2js'
import type { Dependency, DependencyKind } from '#proto/explorer.ts'
import { type EngineArgument, engineArguments, sourcesIn, targetIn, type TableName } from './sources-in.ts'

/** A table of a host, and by their names the tables that depend on it or that it depends on. */
export interface Node {
  database: string
  table: string
  engine: string
  uuid: string
  dependents: readonly (readonly [string, string])[]
  needs: readonly (readonly [string, string])[]
}

/** The texts of a table that is made of others. */
export interface Texts {
  database: string
  table: string
  engineFull: string
  asSelect: string
  create: string
}

type Place = Pick<Node, 'database' | 'table'>
type Edge = Omit<Dependency, 'direction'>

/** All dependencies among the tables of a host. */
export const dependenciesAmong = (nodes: readonly Node[], texts: readonly Texts[]): Edge[] => {
  const known = new Map(nodes.map((node) => [keyOf(node), node]))
  const ends = (place: Place): Edge['from'] => ({
    database: place.database,
    table: place.table,
    engine: known.get(keyOf(place))?.engine ?? null,
  })
  const edges = new Map<string, Edge>()
  const add = (kind: DependencyKind, from: Place, to: Place, cluster: string | null = null): void => {
    const key = `${keyOf(from)} ${keyOf(to)}`
    if (!edges.has(key)) edges.set(key, { kind, from: ends(from), to: ends(to), cluster })
  }
  for (const text of texts) {
    const node = known.get(keyOf(text))
    if (node) addWritten(node, text, nodes, known, add)
  }
  for (const node of nodes) {
    for (const [database, table] of node.dependents)
      add(kindOf(known.get(keyOf({ database, table }))), node, { database, table })
    for (const [database, table] of node.needs) add(kindOf(node), { database, table }, node)
  }
  return [...edges.values()]
}

type Add = (kind: DependencyKind, from: Place, to: Place, cluster?: string) => void

/** What the definition of a table says. */
const addWritten = (
  node: Node,
  text: Texts,
  nodes: readonly Node[],
  known: ReadonlyMap<string, Node>,
  add: Add,
): void => {
  const { engine } = node
  const [first, second, third] = engineArguments(text.engineFull)
  if (engine === 'Distributed' && first && second && third) {
    add('distributed', { database: second.text || node.database, table: third.text }, node, first.text)
  }
  if (engine === 'Buffer' && first && second) {
    add('buffer', node, { database: first.text || node.database, table: second.text })
  }
  if (engine === 'Merge' && first && second) {
    for (const source of merged(node, first, second, nodes)) add('merge', source, node)
  }
  if (!engine.endsWith('View')) return
  for (const source of sourcesIn(text.asSelect)) {
    const place = placeOf(source, node)
    if (known.has(keyOf(place)) || (source.isCertain && source.database !== undefined)) add(kindOf(node), place, node)
  }
  const target = engine === 'MaterializedView' ? targetOf(node, text, known) : undefined
  if (target) add('materialized-view-target', node, target)
}

const placeOf = ({ database, table }: Omit<TableName, 'isCertain'>, { database: own }: Place): Place => ({
  database: database ?? own,
  table,
})

/** The named target, else the inner table, whose name depends on the engine of the database. */
const targetOf = (node: Node, text: Texts, known: ReadonlyMap<string, Node>): Place | undefined => {
  const target = targetIn(text.create)
  if (target) return placeOf(target, node)
  const inner = [`.inner_id.${node.uuid}`, `.inner.${node.table}`].map((table) => ({ database: node.database, table }))
  return inner.find((place) => known.has(keyOf(place)))
}

/** Tables that a Merge table reads through; its patterns are those of ClickHouse, which take linear time here too. */
const merged = (node: Node, database: EngineArgument, table: EngineArgument, nodes: readonly Node[]): Node[] => {
  const inDatabase = database.isPattern ? patternOf(database.text) : (name: string) => name === database.text
  const isNamed = patternOf(table.text)
  return nodes.filter((each) => each !== node && inDatabase(each.database) && isNamed(each.table))
}

const patternOf = (pattern: string): ((name: string) => boolean) => {
  try {
    const compiled = RE2JS.compile(pattern)
    return (name) => compiled.matcher(name).find()
  } catch {
    return () => false
  }
}

const kindOf = (to: Node | undefined): DependencyKind => {
  if (to?.engine === 'MaterializedView') return 'materialized-view'
  if (to?.engine.endsWith('View')) return 'view'
  return to?.engine === 'Dictionary' ? 'dictionary' : 'reference'
}

const keyOf = ({ database, table }: Place): string => JSON.stringify([database, table])
