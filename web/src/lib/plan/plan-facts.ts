import type { ExplainNode, Explanation } from '#proto/explain.ts'

/** The parts and granules of a table that an index selects. */
export interface IndexUsage {
  name: string
  condition: string
  parts: { selected: number; initial: number } | null
  granules: { selected: number; initial: number } | null
}

/** The details of a plan node, with indexes separated. */
export interface PlanFacts {
  indexes: readonly IndexUsage[]
  /** Granules that remain after all indexes, as reported for the last index; null without indexes. */
  reads: { selected: number; initial: number } | null
  others: readonly { name: string; text: string }[]
}

/** Attributes that are left out: the node id is internal, and indexes are shown separately. */
const ignoredAttributes = new Set(['Node Id', 'Indexes'])
const maxTextLength = 400

export const readPlanFacts = ({ details }: ExplainNode): PlanFacts => {
  const listed: unknown = details['Indexes']
  const indexes = (Array.isArray(listed) ? listed : []).filter(isRecord).map(toIndexUsage)
  const others = Object.entries(details)
    .filter(([name]) => !ignoredAttributes.has(name))
    .map(([name, value]) => ({ name, text: formatDetail(value) }))
  return { indexes, reads: indexes.findLast(({ granules }) => granules !== null)?.granules ?? null, others }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const toIndexUsage = (index: Record<string, unknown>): IndexUsage => ({
  name: [index['Type'], index['Name'], keysOf(index['Keys'])].filter(Boolean).join(' '),
  condition: String(index['Condition'] ?? index['Description'] ?? ''),
  parts: readSelectedShare(index, 'Parts'),
  granules: readSelectedShare(index, 'Granules'),
})

const keysOf = (keys: unknown): string => (Array.isArray(keys) && keys.length > 0 ? `(${keys.join(', ')})` : '')

const readSelectedShare = (index: Record<string, unknown>, of: string): IndexUsage['parts'] => {
  const [selected, initial] = [index[`Selected ${of}`], index[`Initial ${of}`]]
  return typeof selected === 'number' && typeof initial === 'number' ? { selected, initial } : null
}

const formatDetail = (value: unknown): string => {
  const isList = Array.isArray(value) && value.every((each) => typeof each !== 'object')
  const text = isList ? value.join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text
}

/** A node of a plan graph. */
export interface PlanGraphNode {
  id: string
  node: ExplainNode
}

/** Returns a plan as nodes and edges in the direction of data flow, from reads to the result. */
export const buildPlanGraph = (roots: readonly ExplainNode[]) => {
  const nodes: PlanGraphNode[] = []
  const edges: { from: string; to: string }[] = []
  const visit = (node: ExplainNode, id: string, parent: string | null) => {
    nodes.push({ id, node })
    if (parent !== null) edges.push({ from: id, to: parent })
    for (const [index, child] of node.children.entries()) visit(child, `${id}.${index}`, id)
  }
  for (const [index, root] of roots.entries()) visit(root, String(index), null)
  return { nodes, edges }
}

/** Returns sentences about the settings of a statement: which apply to its plan, and which do not. */
export const describeStatementSettings = (settings: Explanation['statementSettings']): string[] => {
  if (!settings) return []
  const applied = Object.entries(settings.applied).map(([name, value]) => `${name} = ${value}`)
  return [
    ...(applied.length > 0 ? [`Planned with the SETTINGS of the statement: ${applied.join(', ')}.`] : []),
    ...(settings.ignored.length > 0
      ? [`Not applied, because they do not change the plan or would exceed limits: ${settings.ignored.join(', ')}.`]
      : []),
  ]
}
