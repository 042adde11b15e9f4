import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DashboardContent } from '#proto/dashboards.ts'
import { parseJson } from '#shared/text/strings.ts'
import { channels } from '../../alert-dispatcher/channels/index.ts'
import type { PolicyLayer } from '../../alert-dispatcher/policy/layers/layer.ts'
import { readHealthFiles } from '../../alert-dispatcher/policy/health-d/health-files.ts'
import { CommandError, createUsageError } from '../exit-codes.ts'
import { toChannelEntries } from './channel-entries.ts'
import type { DesiredEntry } from './plan.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** The folder with dashboards below the given one. */
const dashboardFolder = 'dashboards'

/**
 * Reads the entries that a folder defines: alert definitions in the format of `SVC_HEALTH_CONFIG_DIRECTORY`, and
 * dashboards as JSON files in `dashboards/`. The secrets of channels come from variables. Throws with all problems.
 */
export const readProvisioningFolder = (folder: string, env: Variables): DesiredEntry[] => {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw createUsageError(`folder "${folder}" not found; pass the folder that contains the definitions`)
  const { layer, files, problems } = readHealthFiles(folder, channels)
  const found = problems.map(({ file, entry, reason }) => `${file}: ${entry === '' ? reason : `${entry}: ${reason}`}`)
  const channelEntries = toChannelEntries(layer, { env, report: (problem) => found.push(problem) })
  const dashboards = readDashboards(join(folder, dashboardFolder), found)
  if (found.length > 0) throw new CommandError(found.join('\n'))
  if (files.length === 0 && dashboards.length === 0)
    throw createUsageError(`${folder}: no .yaml or .yml file and no dashboards/*.json found`)
  // Routes name channels and targets, so these are saved first.
  return [...channelEntries, ...toEntries(layer), ...dashboards]
}

const toEntries = (layer: PolicyLayer): DesiredEntry[] => {
  const listed = (kind: string, entries: readonly ({ id: string } & object)[]) =>
    entries.map(({ id: key, ...fields }): DesiredEntry => ({ kind, key, fields: { ...fields } }))
  const { general, digestMinutes, rules, custom, sqlRules, routes, quietHours, maintenance } = layer
  return [
    ...(Object.keys(general).length > 0 ? [{ kind: 'settings', key: 'alerts', fields: { ...general } }] : []),
    ...(digestMinutes === undefined
      ? []
      : [{ kind: 'digest', key: 'alerts', fields: { windowMinutes: digestMinutes } }]),
    ...Object.entries(rules).map(([key, fields]) => ({ kind: 'rule', key, fields: { ...fields } })),
    // The server chooses the ids of these rules, so their names identify them.
    ...custom.map(({ id: _id, ...fields }) => ({ kind: 'custom-rule', key: fields.name, fields })),
    ...sqlRules.map(({ id: _id, ...fields }) => ({ kind: 'sql-rule', key: fields.name, fields })),
    ...listed('route', routes),
    ...listed('quiet-hours', quietHours),
    ...maintenance.map(({ id: key, hostKey: host, reason, startsAtMs, endsAtMs }) => ({
      kind: 'maintenance-window',
      key,
      fields: { host, reason, startsAt: toTime(startsAtMs), endsAt: toTime(endsAtMs) },
    })),
  ]
}

const toTime = (instantMs: number): string => new Date(instantMs).toISOString()

const readDashboards = (folder: string, problems: string[]): DesiredEntry[] => {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => {
      const content = DashboardContent.safeParse(parseJson(readFileSync(join(folder, name), 'utf8')))
      if (content.success)
        return [{ kind: 'dashboard', key: toDashboardKey(content.data), fields: { content: content.data } }]
      const [issue] = content.error.issues
      problems.push(
        `${dashboardFolder}/${basename(name)}: ${issue?.path.join('.') || 'file'} ${issue?.message ?? 'is invalid'}`,
      )
      return []
    })
}

/** Returns what identifies a dashboard in files: its folder and title, because ids are generated. */
export const toDashboardKey = ({ folder, title }: { folder: string; title: string }): string =>
  folder === '' ? title : `${folder}/${title}`
