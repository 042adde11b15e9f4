import type { Dependency } from '#lib/api/explorer.ts'

/** A table as a node of the dependency graph. */
export interface TableNode {
  id: string
  database: string
  table: string
  /** The table engine. Null for a table that does not exist on the host. */
  engine: string | null
}

export interface DependencyGraph {
  nodes: readonly TableNode[]
  edges: readonly { from: string; to: string; label: string }[]
  /** Number of tables that are left out because of the limit. */
  omitted: number
}

/** Maximum number of nodes. Larger graphs are not readable. */
const maxNodes = 150

const labels: Record<Dependency['kind'], string> = {
  view: 'view',
  'materialized-view': 'feeds',
  'materialized-view-target': 'writes to',
  dictionary: 'dictionary',
  distributed: 'distributed',
  merge: 'merge',
  buffer: 'buffer',
  reference: 'needed by',
}

const idOf = ({ database, table }: { database: string; table: string }): string => `${database}.${table}`

/** Returns the dependencies as a graph whose edges follow the data flow. The root table is always included. */
export const buildDependencyGraph = (
  dependencies: readonly Dependency[],
  root: { database: string; table: string } | null,
): DependencyGraph => {
  const found = new Map<string, TableNode>()
  if (root) found.set(idOf(root), { id: idOf(root), ...root, engine: null })
  for (const end of dependencies.flatMap(({ from, to }) => [from, to])) {
    found.set(idOf(end), { id: idOf(end), database: end.database, table: end.table, engine: end.engine })
  }
  const nodes = [...found.values()].slice(0, maxNodes)
  const shown = new Set(nodes.map(({ id }) => id))
  const edges = dependencies
    .map(({ from, to, kind, cluster }) => ({
      from: idOf(from),
      to: idOf(to),
      label: cluster ? `${labels[kind]} · ${cluster}` : labels[kind],
    }))
    .filter(({ from, to }) => shown.has(from) && shown.has(to))
  return { nodes, edges, omitted: found.size - nodes.length }
}
