import { z } from 'zod'
import {
  type ExplainNode,
  type Explanation,
  type ExplainMode,
  type ExplainSettings,
  ReadEstimate,
} from '#proto/explain.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Answer } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { parseAst, parsePipeline, parsePlanText, parseQueryTree } from './indented.ts'

/** As `EXPLAIN PLAN json = 1` writes a step; all but these keys are details. */
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

/** The tree that the JSON form of a plan tells; undefined when the text is something else. */
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
const EstimateRow = ReadEstimate.extend({ parts: figure, rows: figure, marks: figure })

/** What callers get of an explanation. */
export const explanation = (
  host: MonitoredHost,
  query: string,
  mode: ExplainMode,
  settings: ExplainSettings,
  answer: Answer,
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
