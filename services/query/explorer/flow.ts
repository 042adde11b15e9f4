import type { Dependency } from '#proto/explorer.ts'

type Edge = Omit<Dependency, 'direction'>
type End = 'from' | 'to'

/** All that leads to a table, and all that comes of it, over any number of others: the nearest first. */
export const flowThrough = (edges: readonly Edge[], asked: { database: string; table: string }): Dependency[] => {
  const upstream = follow(edges, keyOf(asked), 'to', 'from')
  const downstream = follow(edges, keyOf(asked), 'from', 'to')
  return [
    ...[...upstream].map((edge) => ({ ...edge, direction: 'upstream' as const })),
    // What flows in a circle is told once.
    ...[...downstream]
      .filter((edge) => !upstream.has(edge))
      .map((edge) => ({ ...edge, direction: 'downstream' as const })),
  ]
}

const follow = (edges: readonly Edge[], start: string, near: End, far: End): Set<Edge> => {
  const next = Map.groupBy(edges, (edge) => keyOf(edge[near]))
  const reached = new Set([start])
  const found = new Set<Edge>()
  // A set is walked on to what is added meanwhile.
  for (const place of reached) {
    for (const edge of next.get(place) ?? []) {
      found.add(edge)
      reached.add(keyOf(edge[far]))
    }
  }
  return found
}

const keyOf = ({ database, table }: { database: string; table: string }): string => JSON.stringify([database, table])
