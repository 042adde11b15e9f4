import { Command, Option } from 'commander'
import { findCondition, loadConditions } from '../conditions.ts'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { createUsageError } from '../exit-codes.ts'

const durations = ['5m', '15m', '60m', '4h', 'recovery'] as const

interface AckOptions {
  host?: string
  for: (typeof durations)[number]
  note?: string
  remove?: boolean
}

/** Acknowledges an alert: it sends no reminders for a while. */
export const createAckCommand = (context: CommandContext): Command =>
  new Command('ack')
    .description('acknowledge an alert, so that it sends no reminders')
    .argument('<rule>', 'id of the rule, or of the episode')
    .option('--host <name>', 'name or id of the host, if the rule fires on several')
    .addOption(new Option('--for <duration>', 'until when').choices(durations).default('60m'))
    .option('--note <text>', 'why, for other users', '')
    .option('--remove', 'remove the acknowledgement')
    .addHelpText(
      'after',
      formatExamples(
        "watchhouse ack disk-usage --for 4h --note 'new disk is ordered'",
        'watchhouse ack disk-usage --host eu-1 --remove',
      ),
    )
    .action(async (rule: string, options: AckOptions, command) => {
      const { client, output } = openSession(context, command)
      const condition = findCondition((await loadConditions(client)).conditions, rule, options.host)
      const { hostId, ruleId, episode, host, source } = condition
      if (source === null && hostId === null) throw createUsageError(`host "${host}" is no longer configured`)
      const body = { duration: options.for, note: options.note ?? '' }
      const path = { episode }
      const place = { hostId: hostId ?? 0, ruleId }
      const request = async () => {
        if (options.remove)
          return source === null
            ? client.call('DELETE /api/v1/health/ack', { query: place })
            : client.call('DELETE /api/v1/health/inbound/{episode}/ack', { path })
        return source === null
          ? client.call('POST /api/v1/health/ack', { body: { ...place, episode, ...body } })
          : client.call('POST /api/v1/health/inbound/{episode}/ack', { path, body })
      }
      const { data } = await request()
      if (output.mode === 'json') return output.json(data)
      output.line(
        options.remove
          ? `Removed the acknowledgement of "${ruleId}" on "${host}".`
          : `Acknowledged "${ruleId}" on "${host}" ${options.for === 'recovery' ? 'until it recovers' : `for ${options.for}`}.`,
      )
    })
