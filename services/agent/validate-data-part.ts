import type { Logger } from 'pino'
import { ChartPart } from '#proto/agent-parts.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { exactTextSetting, parseSettings } from '#shared/config/setting.ts'
import type { DataPart } from '#shared/tools/tool.ts'

/** Settings for the validation of charts in answers. */
export const chartValidationSettings = {
  AGENT_JSON_RENDER_PATCH_GUARD_DEBUG: exactTextSetting(
    '1',
    'Log each chart that is dropped from an answer because it cannot be rendered; ignored in production.',
  ),
} as const

/**
 * Validates a data part of an answer. Returns undefined for an invalid chart: an unknown kind, too many rows, or an axis
 * that is not a column. The answer then continues without the chart.
 */
export const validateDataPart = (
  { env, log }: { env: Environment; log: Logger },
  part: DataPart,
): DataPart | undefined => {
  if (part.type !== 'data-chart') return part
  const { data: chart, error } = ChartPart.safeParse(part.data)
  const problems = chart
    ? [...findAxisProblems(chart), ...findSizeProblems(chart)]
    : (error?.issues.map(({ path }) => path.join('.')) ?? [])
  if (chart && problems.length === 0) return { ...part, data: chart }
  // Logs only the names of invalid fields, because titles, statements and rows are data of the host.
  if (shouldLogProblems(env))
    log.info({ id: part.id, problems: problems.slice(0, maxProblems) }, 'invalid chart dropped')
  return undefined
}

const maxProblems = 10
/** Maximum size of a chart's rows, in characters of JSON. A thousand rows of numbers need far less. */
const maxRowsLength = 512 * 1024

const findSizeProblems = ({ rows }: ChartPart): string[] =>
  JSON.stringify(rows).length > maxRowsLength ? ['rows'] : []

const findAxisProblems = ({ columns, x, y }: ChartPart): string[] => {
  const names = new Set(columns.map(({ name }) => name))
  return [...(x === null || names.has(x) ? [] : ['x']), ...(y.every((name) => names.has(name)) ? [] : ['y'])]
}

const shouldLogProblems = (env: Environment): boolean =>
  parseSettings(chartValidationSettings, env).AGENT_JSON_RENDER_PATCH_GUARD_DEBUG &&
  parseSettings(processSettings, env).NODE_ENV !== 'production'
