import { z } from 'zod'
import {
  type ExplainNode,
  type Explanation,
  type ExplainMode,
  type ExplainSettings,
  ReadEstimate,
} from '#proto/explain.ts'
import { hostNumberSchema, readRecords } from '../analysis/read-records.ts'
import type { QueryResult } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** A step in the output of `EXPLAIN PLAN json = 1`. All other keys are details of the step. */
interface Step {
  'Node Type': string
  Description?: string | undefined
  Plans?: Step[] | undefined
  [detail: string]: unknown
}

const Step: z.ZodType<Step> = z.lazy(() =>
  z.looseObject({ 'Node Type': z.string(), Description: z.string().optional(), Plans: z.array(Step).optional() }),
)
const Plans = z.array(z.object({ Plan: Step }))

/** Parses the JSON form of a plan, or returns undefined for other text. */
export const parsePlanJson = (text: string): ExplainNode[] | undefined => {
  try {
    const plans = Plans.safeParse(JSON.parse(text))
    return plans.success ? plans.data.map(({ Plan }) => nodeOf(Plan)) : undefined
  } catch {
    return undefined
  }
}

const nodeOf = ({ 'Node Type': name, Description: description, Plans: plans, ...details }: Step): ExplainNode => ({
  name,
  description: description || null,
  details,
  children: (plans ?? []).map(nodeOf),
})

const Line = z.object({ explain: z.string() })
const EstimateRow = ReadEstimate.extend({ parts: hostNumberSchema, rows: hostNumberSchema, marks: hostNumberSchema })

/** Converts the result of an EXPLAIN to an explanation: text and tree, or estimates. */
export const toExplanation = (
  host: MonitoredHost,
  query: string,
  mode: ExplainMode,
  settings: ExplainSettings,
  answer: QueryResult,
): Explanation => {
  if (mode === 'estimate') {
    return { mode, query, text: null, tree: null, estimates: readRecords(host, EstimateRow, answer) }
  }
  const text = readRecords(host, Line, answer)
    .map((line) => line.explain)
    .join('\n')
  return { mode, query, text, tree: treeOf(mode, settings, text) ?? null, estimates: null }
}

const treeOf = (mode: ExplainMode, settings: ExplainSettings, text: string): ExplainNode[] | undefined => {
  if (settings.graph) return undefined
  if (mode === 'plan') return parsePlanJson(text) ?? parsePlanText(text)
  if (mode === 'analyze') return parsePlanText(text)
  if (mode === 'pipeline') return parsePipeline(text)
  if (mode === 'ast') return parseAst(text)
  return mode === 'query-tree' ? parseQueryTree(text) : undefined
}

/** Maximum depth; deeper trees would exhaust the stack of consumers. */
const maxDepth = 500

/** One line of an indented text. */
interface IndentedLine {
  indent: number
  text: string
}

/** Parses an indented text to a tree; undefined when it is nested too deeply. */
type Parser = (text: string) => ExplainNode[] | undefined

const linesOf = (text: string): IndentedLine[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ indent: line.length - line.trimStart().length, text: line.trim() }))

const node = (name: string, description: string | null = null): ExplainNode => ({
  name,
  description,
  details: {},
  children: [],
})

/** Makes each node a child of the last preceding node with less indentation. */
const buildTree = (entries: Iterable<{ indent: number; node: ExplainNode }>): ExplainNode[] | undefined => {
  const roots: ExplainNode[] = []
  const open: { indent: number; node: ExplainNode }[] = []
  for (const entry of entries) {
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= entry.indent) open.pop()
    const siblings = open.at(-1)?.node.children ?? roots
    siblings.push(entry.node)
    if (open.push(entry) > maxDepth) return undefined
  }
  return roots
}

/** Parses `EXPLAIN AST`, such as `Function sum (alias revenue) (children 1)`. The first word is the node name. */
export const parseAst: Parser = (text) =>
  buildTree(
    linesOf(text).map(({ indent, text: line }) => ({
      indent,
      node: firstWord(line.replace(/ \(children \d+\)$/, '')),
    })),
  )

const firstWord = (line: string): ExplainNode => {
  const [, name = line, description] = /^(\S+) (.+)$/s.exec(line) ?? []
  return node(name, description ?? null)
}

/** Parses `EXPLAIN QUERY TREE`, such as `FUNCTION id: 4, function_name: sum`. The name is in upper case. */
export const parseQueryTree: Parser = (text) => {
  const entries = linesOf(text).map(({ indent, text: line }) => {
    const [, name = line, properties] = /^([A-Z][A-Z _]*?) (id: \d.*)$/s.exec(line) ?? []
    return { indent, node: node(name, properties ?? null) }
  })
  return buildTree(entries)
}

/** Parses `EXPLAIN PIPELINE`. Steps are in parentheses; the lines below a step are its processors. */
export const parsePipeline: Parser = (text) => {
  const entries: { indent: number; node: ExplainNode }[] = []
  const processors = new Map<ExplainNode, string[]>()
  for (const { indent, text: line } of linesOf(text)) {
    const step = /^\((\w+)\)$/.exec(line)?.[1]
    const last = entries.at(-1)?.node
    if (step !== undefined || !last) entries.push({ indent, node: node(step ?? line) })
    else processors.set(last, [...(processors.get(last) ?? []), line])
  }
  for (const [step, lines] of processors) step.details = { processors: lines }
  return buildTree(entries)
}

/** Matches a step, which is one word, unlike details such as `Limit 3`. */
const stepPattern = /^([A-Z]\w*)(?: \((.*)\))?$/s

/** Parses a plan of a newer server, which draws branches. A line without a branch is a detail of the step above. */
const parseDrawnPlan: Parser = (text) => {
  const entries: { indent: number; node: ExplainNode }[] = []
  const details = new Map<ExplainNode, string[]>()
  for (const line of text.split('\n')) {
    const branch = /^[\s│]*[├└]──/.exec(line)?.[0]
    const written = line.slice(branch?.length ?? 0)
    const last = entries.at(-1)?.node
    if (branch !== undefined || (!last && stepPattern.test(written))) {
      const [, name = written, description] = stepPattern.exec(written) ?? []
      entries.push({ indent: branch?.length ?? 0, node: node(name, description ?? null) })
    } else if (last && written.trim() !== '') {
      details.set(last, [...(details.get(last) ?? []), written.replace(/^[\s│]+/, '')])
    }
  }
  for (const [step, lines] of details) step.details = { lines }
  return buildTree(entries)
}

/** Parses an indented plan of an older server. Deeper lines belong to the preceding detail that ends in a colon. */
const parseIndentedPlan: Parser = (text) => {
  const entries: { indent: number; node: ExplainNode }[] = []
  const details = new Map<ExplainNode, string[]>()
  let within: number | undefined
  for (const { indent, text: line } of linesOf(text)) {
    const last = entries.at(-1)
    const belongs = within !== undefined && indent > within
    const step = belongs ? undefined : (stepPattern.exec(line) ?? undefined)
    if (step) {
      within = undefined
      entries.push({ indent, node: node(step[1] ?? line, step[2] ?? null) })
    } else if (last) {
      if (!belongs) within = line.endsWith(':') ? indent : undefined
      details.set(last.node, [...(details.get(last.node) ?? []), line])
    }
  }
  for (const [step, lines] of details) step.details = { lines }
  return buildTree(entries)
}

/** Parses the text form of `EXPLAIN PLAN` and `EXPLAIN ANALYZE`. */
export const parsePlanText: Parser = (text) =>
  /^[\s│]*[├└]──/m.test(text) ? parseDrawnPlan(text) : parseIndentedPlan(text)
