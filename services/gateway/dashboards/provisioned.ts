import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { DashboardContent } from '#proto/dashboards.ts'
import type { Environment } from '#shared/config/environment.ts'
import { optionalTextSetting, parseSettings } from '#shared/config/setting.ts'
import { parseJson } from '#shared/text/strings.ts'
import { parseDashboard, requireConsistent } from './check-dashboard.ts'
import { starterDashboards } from './starter/index.ts'

/** Settings of dashboards. */
export const dashboardSettings = {
  SVC_DASHBOARDS_DIRECTORY: optionalTextSetting(
    'Directory with dashboards as JSON files, in the format of the export. They are read-only in the web UI; changes of the files take effect within seconds.',
  ),
} as const

/** A dashboard that cannot be edited, because a file or the product manages it. */
export interface ProvisionedDashboard {
  id: string
  managedBy: 'file' | 'product'
  content: DashboardContent
  savedAtMs: number | null
}

/** The provisioned dashboards, and the files that are invalid. */
export interface ProvisionedDashboards {
  dashboards: readonly ProvisionedDashboard[]
  problems: readonly { file: string; message: string }[]
}

/** Maximum number of files in the directory. */
const maxFiles = 500
const maxFileBytes = 2 * 1024 * 1024

interface ReadFile {
  modifiedMs: number
  dashboard: ProvisionedDashboard | undefined
  message: string
}

/** Returns a function that returns the provisioned dashboards. It reads only files that have changed. */
export const createProvisionedReader = (env: Environment): (() => Promise<ProvisionedDashboards>) => {
  const known = new Map<string, ReadFile>()
  const starters = starterDashboards.map(({ id, content }): ProvisionedDashboard => ({
    id: `starter-${id}`,
    managedBy: 'product',
    content: parseDashboard(content),
    savedAtMs: null,
  }))
  return async () => {
    const { SVC_DASHBOARDS_DIRECTORY: directory } = parseSettings(dashboardSettings, env)
    if (directory === undefined) return { dashboards: starters, problems: [] }
    const names = await listFiles(directory)
    if (names === undefined)
      return {
        dashboards: starters,
        problems: [{ file: basename(directory), message: 'the directory cannot be read' }],
      }
    const files = await Promise.all(
      names.map(async (name) => ({ name, ...(await readIfChanged(directory, name, known)) })),
    )
    return {
      dashboards: [...starters, ...files.flatMap(({ dashboard }) => dashboard ?? [])],
      problems: files.flatMap(({ name, dashboard, message }) => (dashboard ? [] : [{ file: name, message }])),
    }
  }
}

const listFiles = async (directory: string): Promise<string[] | undefined> => {
  try {
    return (await readdir(directory))
      .filter((name) => name.endsWith('.json'))
      .toSorted()
      .slice(0, maxFiles)
  } catch {
    return undefined
  }
}

const readIfChanged = async (directory: string, name: string, known: Map<string, ReadFile>): Promise<ReadFile> => {
  const path = join(directory, name)
  const facts = await stat(path).catch(() => undefined)
  if (!facts?.isFile()) return { modifiedMs: 0, dashboard: undefined, message: 'the file cannot be read' }
  const seen = known.get(path)
  if (seen?.modifiedMs === facts.mtimeMs) return seen
  const read: ReadFile = {
    modifiedMs: facts.mtimeMs,
    dashboard: undefined,
    message: `the file is larger than ${maxFileBytes} bytes`,
  }
  if (facts.size <= maxFileBytes) Object.assign(read, await readDashboard(path, name, facts.mtimeMs))
  known.set(path, read)
  return read
}

const readDashboard = async (
  path: string,
  name: string,
  modifiedMs: number,
): Promise<Pick<ReadFile, 'dashboard' | 'message'>> => {
  try {
    const given = parseJson(await readFile(path, 'utf8'))
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      return { dashboard: undefined, message: 'the file is not a JSON object' }
    const content = parseDashboard({ ...given })
    requireConsistent(content, undefined)
    const id = `file-${basename(name, '.json')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, maxIdLength)
    return { dashboard: { id, managedBy: 'file', content, savedAtMs: Math.round(modifiedMs) }, message: '' }
  } catch (error) {
    return { dashboard: undefined, message: error instanceof Error ? error.message : 'the file cannot be read' }
  }
}

const maxIdLength = 80
