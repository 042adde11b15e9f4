import type { ExplainMode } from '#proto/explain.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** The modes of EXPLAIN with their titles and descriptions, in display order. */
export const explainModeOptions: readonly { mode: ExplainMode; title: string; doc: string }[] = [
  { mode: 'plan', title: 'Plan', doc: 'Query steps, and what remains to be read after indexes.' },
  { mode: 'estimate', title: 'Estimate', doc: 'Parts, rows and granules to read from each table.' },
  { mode: 'pipeline', title: 'Pipeline', doc: 'Processors and their parallelism.' },
  { mode: 'syntax', title: 'Syntax', doc: 'The statement after rewriting.' },
  { mode: 'ast', title: 'AST', doc: 'The abstract syntax tree of the statement.' },
  { mode: 'query-tree', title: 'Query tree', doc: 'The statement after name and type resolution.' },
  {
    mode: 'analyze',
    title: 'Analyze',
    doc: 'The plan with measured values of each step. Executes the statement; requires ClickHouse 26.7 or later.',
  },
]

export const readExplainMode = (parameters: ReadableParameters): ExplainMode =>
  explainModeOptions.find(({ mode }) => mode === parameters.get('mode'))?.mode ?? 'plan'
