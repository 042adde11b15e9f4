import { z } from 'zod'
import type { Explanation, ExplainMode, ExplainNode, ExplainSettings } from '#proto/explain.ts'
import { ReadEstimate } from '#proto/explain.ts'
import { figure, readRecords } from '../analysis/records.ts'
import type { Answer } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { parseAst, parsePipeline, parsePlanText, parseQueryTree } from './indented.ts'
import { parsePlanJson } from './plan-json.ts'

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
