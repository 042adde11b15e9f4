import { Command } from 'commander'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { formatSeconds } from '../output/format.ts'
import type { Tone } from '../output/output.ts'

/** Lists the monitored hosts with their state. */
export const createHostsCommand = (context: CommandContext): Command =>
  new Command('hosts')
    .description('list the monitored hosts with their state')
    .addHelpText(
      'after',
      formatExamples('watchhouse hosts', 'watchhouse hosts --json | jq -r \'.[] | select(.status != "up").name\''),
    )
    .action(async (_options, command) => {
      const { client, output } = openSession(context, command)
      const [{ data: hosts }, { data: fleet }] = await Promise.all([
        client.call('GET /api/v1/hosts'),
        client.call('GET /api/v1/fleet'),
      ])
      const states = new Map(fleet.map((state) => [state.id, state]))
      const rows = hosts.map((host) => ({ ...host, ...states.get(host.id) }))
      output.list({
        rows,
        empty: 'The server has no hosts.',
        columns: [
          { title: 'ID', value: ({ id }) => id, isRight: true },
          { title: 'NAME', value: ({ name }) => name },
          { title: 'STATUS', value: ({ status = 'unknown' }) => status, tone: ({ status = '' }) => tones[status] },
          { title: 'VERSION', value: ({ version }) => version },
          { title: 'UPTIME', value: ({ uptime }) => uptime && formatSeconds(uptime), isRight: true },
          { title: 'QUERIES', value: ({ load }) => load?.queries, isRight: true },
          { title: 'CPU', value: ({ load }) => toPercent(load?.cpu), isRight: true },
          { title: 'MEMORY', value: ({ load }) => toPercent(load?.memory), isRight: true },
          { title: 'DISK', value: ({ load }) => toPercent(load?.disk), isRight: true },
          {
            title: 'WORST PROBLEM',
            value: ({ worstFinding }) => worstFinding?.title,
            tone: ({ worstFinding }) => worstFinding?.severity,
          },
          { title: 'GROUP', value: ({ group }) => group },
          { title: 'ADDRESS', value: ({ host }) => host },
        ],
      })
    })

const tones: Readonly<Record<string, Tone>> = { up: 'good', down: 'critical', unknown: 'muted' }

const toPercent = (share: number | null | undefined): string | null => (share == null ? null : `${share}%`)
