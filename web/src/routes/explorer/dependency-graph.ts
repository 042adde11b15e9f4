import type { Dependency } from '#lib/api/explorer.ts'

/** A table of the graph. */
export interface Knot {
  id: string
  database: string
  table: string
  /** Null when the host does not have it. */
  engine: string | null
}

export interface DependencyGraph {
  nodes: readonly Knot[]
  edges: readonly { from: string; to: string; label: string }[]
  /** Tables that are left out, as more could not be read. */
  left: number
}

/** Nodes of a graph that can still be read. */
const most = 150

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

/** Dependencies as a graph along the flow of data; the table that is asked about is always in it. */
export const dependencyGraph = (
  dependencies: readonly Dependency[],
  asked: { database: string; table: string } | null,
): DependencyGraph => {
  const found = new Map<string, Knot>()
  if (asked) found.set(idOf(asked), { id: idOf(asked), ...asked, engine: null })
  for (const end of dependencies.flatMap(({ from, to }) => [from, to])) {
    found.set(idOf(end), { id: idOf(end), database: end.database, table: end.table, engine: end.engine })
  }
  const nodes = [...found.values()].slice(0, most)
  const shown = new Set(nodes.map(({ id }) => id))
  const edges = dependencies
    .map(({ from, to, kind, cluster }) => ({
      from: idOf(from),
      to: idOf(to),
      label: cluster ? `${labels[kind]} · ${cluster}` : labels[kind],
    }))
    .filter(({ from, to }) => shown.has(from) && shown.has(to))
  return { nodes, edges, left: found.size - nodes.length }
}
