import { Command } from 'commander'
import { findCondition, loadConditions } from '../conditions.ts'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { createUsageError } from '../exit-codes.ts'
import { parseMinutes } from '../output/format.ts'

/** Longest silence that the API accepts. */
const maxMinutes = 43_200

interface SilenceOptions {
  host?: string
  for?: string
  note?: string
  remove?: boolean
}

/** Silences an alert: it sends no notifications for a while, or until it recovers. */
export const createSilenceCommand = (context: CommandContext): Command =>
  new Command('silence')
    .description('silence an alert, so that it sends no notifications')
    .argument('<rule>', 'id of the rule, or of the episode')
    .option('--host <name>', 'name or id of the host, if the rule fires on several')
    .option('--for <duration>', 'such as 30m, 2h or 7d (default: until it recovers)')
    .option('--note <text>', 'why, for other users', '')
    .option('--remove', 'remove the silence')
    .addHelpText(
      'after',
      formatExamples(
        "watchhouse silence disk-usage --for 2h --note 'migration'",
        'watchhouse silence disk-usage --host eu-1 --remove',
      ),
    )
    .action(async (rule: string, options: SilenceOptions, command) => {
      const minutes = readMinutes(options.for)
      const { client, output } = openSession(context, command)
      const condition = findCondition((await loadConditions(client)).conditions, rule, options.host)
      const { hostId, ruleId, episode, host, source } = condition
      if (source === null && hostId === null) throw createUsageError(`host "${host}" is no longer configured`)
      const body = { minutes, note: options.note ?? '' }
      const path = { episode }
      const place = { hostId: hostId ?? 0, ruleId }
      const request = async () => {
        if (options.remove)
          return source === null
            ? client.call('DELETE /api/v1/health/dismiss', { query: place })
            : client.call('DELETE /api/v1/health/inbound/{episode}/dismiss', { path })
        return source === null
          ? client.call('POST /api/v1/health/dismiss', { body: { ...place, episode, ...body } })
          : client.call('POST /api/v1/health/inbound/{episode}/dismiss', { path, body })
      }
      const { data } = await request()
      if (output.mode === 'json') return output.json(data)
      output.line(
        options.remove
          ? `Removed the silence of "${ruleId}" on "${host}".`
          : `Silenced "${ruleId}" on "${host}" ${minutes === null ? 'until it recovers' : `for ${options.for}`}.`,
      )
    })

const readMinutes = (text: string | undefined): number | null => {
  if (text === undefined) return null
  const minutes = parseMinutes(text)
  if (minutes === undefined || minutes > maxMinutes)
    throw createUsageError(`invalid duration "${text}"; allowed: a number with m, h or d, up to 30d`)
  return minutes
}
