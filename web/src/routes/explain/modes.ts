import type { ExplainMode } from '#proto/explain.ts'
import type { ReadableParameters } from '#lib/state/range.ts'

/** What a host can tell of a statement, in the order in which it is asked for. */
export const modes: readonly { mode: ExplainMode; title: string; doc: string }[] = [
  { mode: 'plan', title: 'Plan', doc: 'The steps of the query and what indexes leave to be read.' },
  { mode: 'estimate', title: 'Estimate', doc: 'Parts, rows and granules that would be read of each table.' },
  { mode: 'pipeline', title: 'Pipeline', doc: 'The processors that would run, and how many of each.' },
  { mode: 'syntax', title: 'Syntax', doc: 'The statement after it was rewritten.' },
  { mode: 'ast', title: 'AST', doc: 'The statement as the parser understands it.' },
  { mode: 'query-tree', title: 'Query tree', doc: 'The statement after names and types were settled.' },
  {
    mode: 'analyze',
    title: 'Analyze',
    doc: 'The plan with what each step really did. It executes the statement; needs a server of 2026.',
  },
]

export const readMode = (parameters: ReadableParameters): ExplainMode =>
  modes.find(({ mode }) => mode === parameters.get('mode'))?.mode ?? 'plan'
