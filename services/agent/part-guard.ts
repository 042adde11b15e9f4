import type { Logger } from 'pino'
import { ChartPart } from '#proto/agent-parts.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { exactly, read } from '#shared/config/setting.ts'
import type { DataPart } from '#shared/tools/tool.ts'

/** What the guard of charts obeys. */
export const partGuardSettings = {
  AGENT_JSON_RENDER_PATCH_GUARD_DEBUG: exactly(
    '1',
    'Log each chart of an answer that is dropped since no page could draw it; not in production.',
  ),
} as const

/**
 * The part as a page can show it; undefined for a chart that none can draw: of no known kind, too large, or with axes that are no
 * columns. The answer goes on without it, since its text and evidence stand by themselves.
 */
export const guardPart = ({ env, log }: { env: Environment; log: Logger }, part: DataPart): DataPart | undefined => {
  if (part.type !== 'data-chart') return part
  const { data: chart, error } = ChartPart.safeParse(part.data)
  const problems = chart
    ? [...axesOf(chart), ...sizeOf(chart)]
    : (error?.issues.map(({ path }) => path.join('.')) ?? [])
  if (chart && problems.length === 0) return { ...part, data: chart }
  // Names of fields only: titles, statements and rows are the host's.
  if (tells(env))
    log.info({ id: part.id, problems: problems.slice(0, mostProblems) }, 'a chart of an answer is dropped')
  return undefined
}

const mostProblems = 10
/** Longest rows of a chart, in characters of JSON: a thousand rows of figures are far below. */
const longestRows = 512 * 1024

const sizeOf = ({ rows }: ChartPart): string[] => (JSON.stringify(rows).length > longestRows ? ['rows'] : [])

const axesOf = ({ columns, x, y }: ChartPart): string[] => {
  const names = new Set(columns.map(({ name }) => name))
  return [...(x === null || names.has(x) ? [] : ['x']), ...(y.every((name) => names.has(name)) ? [] : ['y'])]
}

const tells = (env: Environment): boolean =>
  read(partGuardSettings, env).AGENT_JSON_RENDER_PATCH_GUARD_DEBUG &&
  read(processSettings, env).NODE_ENV !== 'production'
