import { Graph, layout } from '@dagrejs/dagre'

/** The position of the upper left corner of a node, in pixels. */
export interface NodePosition {
  id: string
  left: number
  top: number
}

export interface GraphEdge {
  from: string
  to: string
  label?: string
}

export interface Size {
  width: number
  height: number
}

export interface PlacedEdge extends GraphEdge {
  path: string
  /** The centre of the label. */
  x: number
  y: number
}

export interface GraphLayout extends Size {
  nodes: readonly NodePosition[]
  edges: readonly PlacedEdge[]
}

/** Direction of the edges. */
export type GraphDirection = 'down' | 'right'

const gap = { node: 20, rank: 48, margin: 12 }
const labelSize = { width: 80, height: 18 }

/**
 * Lays out a directed graph in ranks with few edge crossings. Trees keep the order of siblings. Edges to unknown nodes
 * are dropped.
 */
export const layOutGraph = (
  ids: readonly string[],
  edges: readonly GraphEdge[],
  size: Size,
  direction: GraphDirection,
  isTree = false,
): GraphLayout => {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({
    rankdir: direction === 'down' ? 'TB' : 'LR',
    nodesep: gap.node,
    ranksep: gap.rank,
    marginx: gap.margin,
    marginy: gap.margin,
  })
  for (const id of ids) graph.setNode(id, { ...size })
  const known = edges.filter(({ from, to }) => graph.hasNode(from) && graph.hasNode(to))
  for (const [index, { from, to, label }] of known.entries()) {
    graph.setEdge({ v: from, w: to, name: String(index) }, label ? { ...labelSize, labelpos: 'c' } : {})
  }
  layout(graph, { disableOptimalOrderHeuristic: isTree })
  const nodes = ids.map((id) => {
    const { x = 0, y = 0 } = graph.node(id)
    return { id, left: x - size.width / 2, top: y - size.height / 2 }
  })
  const placed = known.map((edge, index) => {
    const { points = [] } = graph.edge({ v: edge.from, w: edge.to, name: String(index) })
    const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 }
    return { ...edge, ...middle, path: buildCurvePath(points) }
  })
  const { width = 0, height = 0 } = graph.graph()
  return { nodes, edges: placed, width, height }
}

interface Point {
  x: number
  y: number
}

/** Returns a smooth path through points. */
const buildCurvePath = (points: readonly Point[]): string => {
  const [first, ...rest] = points
  if (!first) return ''
  const bends = rest.slice(0, -1).map((bend, index) => {
    const next = rest[index + 1] ?? bend
    const isLast = index === rest.length - 2
    const end = isLast ? next : { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 }
    return `Q${bend.x},${bend.y} ${end.x},${end.y}`
  })
  const last = rest.at(-1)
  const line = bends.length === 0 && last ? [`L${last.x},${last.y}`] : bends
  return [`M${first.x},${first.y}`, ...line].join(' ')
}
