import { Command } from 'commander'
import { type CommandContext, openSession } from '../context.ts'
import { RequestError } from '../../client/failure.ts'
import { CommandError, createUsageError, exitCodes } from '../exit-codes.ts'
import { formatExamples, requireServicesNode } from '../options.ts'
import type { Output, Tone } from '../output/output.ts'
import { toSafeLine } from '../output/terminal-text.ts'
import { planChanges, type Change } from '../provisioning/plan.ts'

interface ApplyOptions {
  dryRun?: boolean
  prune?: boolean
  updateSecrets?: boolean
  yes?: boolean
}

/** Applies definitions in files to a server. */
export const createApplyCommand = (context: CommandContext): Command =>
  new Command('apply')
    .description('make a server equal to the alert definitions and dashboards of a folder; shows the differences')
    .argument('<folder>', 'folder with alerts.yaml, channels.yaml, routing.yaml, …, and dashboards/*.json')
    .option('--dry-run', `only show the differences; exits ${exitCodes.usage} if there are any`)
    .option('-y, --yes', 'apply without a confirmation; required without a terminal')
    .option('--prune', 'also delete entries of these kinds that were saved on the server and are in no file')
    .option('--update-secrets', 'save all secrets again; without it, only their last four characters are compared')
    .addHelpText(
      'after',
      formatExamples(
        'watchhouse apply health.d --dry-run',
        'watchhouse apply health.d',
        'TEAM_WEBHOOK=… watchhouse apply health.d --yes --prune',
      ),
    )
    .action(async (folder: string, options: ApplyOptions, command) => {
      requireServicesNode('apply')
      // The formats of the files belong to the service `alert-dispatcher`, which other commands do not need.
      const { readProvisioningFolder } = await import('../provisioning/read-folder.ts')
      const { applyChange, loadCurrentEntries } = await import('../provisioning/resources.ts')
      const desired = readProvisioningFolder(folder, context.env)
      const { client, output } = openSession(context, command)
      const current = await loadCurrentEntries(client, new Set(desired.map(({ kind }) => kind)))
      const { prune = false, updateSecrets = false, dryRun = false } = options
      const changes = planChanges(desired, current, { prune, updateSecrets })
      if (output.mode !== 'json') writeChanges(output, changes)
      const isApplying = !dryRun && changes.length > 0
      if (isApplying && !options.yes) await requireConfirmation(context, changes.length)
      if (isApplying) for (const change of changes) await applyChange(client, change).catch(addPlace(change))
      if (output.mode === 'json') output.json({ applied: !dryRun, changes: changes.map(toReportedChange) })
      else if (isApplying) output.line('Applied.')
      if (dryRun && changes.length > 0) context.setExitCode(exitCodes.usage)
    })

/** Throws unless the user confirms the changes. */
const requireConfirmation = async ({ stdin, stderr, signal }: CommandContext, count: number): Promise<void> => {
  if (!stdin.isTTY) throw createUsageError('apply needs a confirmation; pass --yes without a terminal')
  const { default: confirm } = await import('@inquirer/confirm')
  const message = count === 1 ? 'Apply this change?' : `Apply these ${count} changes?`
  if (!(await confirm({ message, default: false }, { input: stdin, output: stderr, signal })))
    throw new CommandError('not applied')
}

/** Returns a handler that adds the entry to the message of a failed request. Earlier changes stay applied. */
const addPlace =
  (change: Change) =>
  (error: unknown): never => {
    const { kind, key } = change.action === 'delete' ? change.current : change.desired
    throw error instanceof RequestError ? error.withMessage(`${kind} "${key}": ${error.message}`) : error
  }

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
      for (const [field, value] of Object.entries(fields))
        if (value !== undefined) output.line(`    ${field}: ${formatValue(value)}`)
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
