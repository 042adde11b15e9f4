import { Command, Option } from 'commander'
import { loadConditions, type Condition } from '../conditions.ts'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { hostOption, selectHosts, type HostOptions } from '../hosts.ts'
import { formatInstant, formatSeconds, formatUnit } from '../output/format.ts'

/** Lists the conditions that are not ok. */
export const createAlertsCommand = (context: CommandContext): Command =>
  new Command('alerts')
    .description('list the alerts that are pending or firing')
    .addOption(hostOption())
    .addOption(new Option('--severity <severity>', 'only this severity').choices(['warning', 'critical']))
    .option('--firing', 'only firing alerts')
    .addHelpText(
      'after',
      formatExamples('watchhouse alerts', 'watchhouse alerts --host eu-1 --firing --severity critical'),
    )
    .action(async (options: HostOptions & { severity?: string; firing?: boolean }, command) => {
      const { client, output } = openSession(context, command)
      const hosts = options.host && (await selectHosts(client, options)).map(({ id }) => id)
      const { conditions, sweptAtMs } = await loadConditions(client)
      const rows = conditions.filter(
        ({ hostId, severity, phase }) =>
          (hosts === undefined || (hostId !== null && hosts.includes(hostId))) &&
          (options.severity === undefined || severity === options.severity) &&
          (!options.firing || phase === 'firing'),
      )
      const nowMs = Date.now()
      output.list({
        rows,
        empty: sweptAtMs === null ? 'No rules have been evaluated yet.' : 'No alerts are pending or firing.',
        columns: [
          { title: 'SEVERITY', value: ({ severity }) => severity, tone: ({ severity }) => severity },
          { title: 'HOST', value: ({ host }) => host },
          { title: 'RULE', value: ({ ruleId }) => ruleId },
          { title: 'TITLE', value: ({ title }) => title },
          { title: 'VALUE', value: ({ value, unit }) => formatUnit(value, unit), isRight: true },
          { title: 'THRESHOLD', value: ({ threshold, unit }) => formatUnit(threshold, unit), isRight: true },
          { title: 'FOR', value: ({ sinceMs }) => formatSeconds(Math.max(0, nowMs - sinceMs) / 1000), isRight: true },
          { title: 'STATE', value: describeState },
          { title: 'OBJECTS', value: ({ offenders }) => offenders.join(', ') },
        ],
      })
    })

const describeState = ({ phase, acknowledged, dismissed }: Condition): string => {
  if (dismissed) return `silenced ${describeEnd(dismissed.untilMs)}`
  return acknowledged ? `acknowledged ${describeEnd(acknowledged.untilMs)}` : phase
}

const describeEnd = (untilMs: number | null): string =>
  untilMs === null ? 'until it recovers' : `until ${formatInstant(untilMs)} UTC`
