import { Command } from 'commander'
import { type CommandContext, openSession } from '../context.ts'
import { exitCodes } from '../exit-codes.ts'
import { requireServicesNode } from '../options.ts'
import type { Output, Tone } from '../output/output.ts'
import { toSafeLine } from '../output/terminal-text.ts'
import { planChanges, type Change } from '../provisioning/plan.ts'

/** Applies definitions in files to a server. */
export const createApplyCommand = (context: CommandContext): Command =>
  new Command('apply')
    .description('make a server equal to the alert definitions and dashboards of a folder; shows the differences')
    .argument('<folder>', 'folder with alerts.yaml, routing.yaml, …, and dashboards/*.json')
    .option('--dry-run', `only show the differences; exits ${exitCodes.usage} if there are any`)
    .option('--prune', 'also delete entries of these kinds that were saved on the server and are in no file')
    .action(async (folder: string, options: { dryRun?: boolean; prune?: boolean }, command) => {
      requireServicesNode('apply')
      // The formats of the files belong to the service `alert-dispatcher`, which other commands do not need.
      const { readProvisioningFolder } = await import('../provisioning/read-folder.ts')
      const { applyChange, loadCurrentEntries } = await import('../provisioning/resources.ts')
      const desired = readProvisioningFolder(folder)
      const { client, output } = openSession(context, command)
      const current = await loadCurrentEntries(client, new Set(desired.map(({ kind }) => kind)))
      const changes = planChanges(desired, current, { prune: options.prune === true })
      if (output.mode !== 'json') writeChanges(output, changes)
      if (options.dryRun !== true) for (const change of changes) await applyChange(client, change)
      if (output.mode === 'json')
        output.json({ applied: options.dryRun !== true, changes: changes.map(toReportedChange) })
      else if (options.dryRun !== true && changes.length > 0) output.line('Applied.')
      if (options.dryRun === true && changes.length > 0) context.setExitCode(exitCodes.usage)
    })

const toReportedChange = (change: Change) => {
  const { kind, key } = change.action === 'delete' ? change.current : change.desired
  return { action: change.action, kind, key, fields: change.action === 'change' ? change.fields : [] }
}

const signs = { add: '+', change: '~', delete: '-' } as const
const tones: Readonly<Record<Change['action'], Tone>> = { add: 'good', change: 'warning', delete: 'critical' }

const writeChanges = (output: Output, changes: readonly Change[]): void => {
  for (const change of changes) {
    const { kind, key, fields } = change.action === 'delete' ? change.current : change.desired
    output.line(output.paint(`${signs[change.action]} ${kind} ${toSafeLine(key)}`, tones[change.action]))
    if (change.action === 'add')
      for (const [field, value] of Object.entries(fields)) output.line(`    ${field}: ${formatValue(value)}`)
    if (change.action === 'change')
      for (const { field, from, to } of change.fields)
        output.line(`    ${field}: ${formatValue(from)} → ${formatValue(to)}`)
  }
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  output.line(
    changes.length === 0
      ? 'No differences.'
      : `${count('add')} to add, ${count('change')} to change, ${count('delete')} to delete.`,
  )
}

const maxValueLength = 160

const formatValue = (value: unknown): string => {
  const text = value === undefined ? 'not set' : toSafeLine(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text
}
