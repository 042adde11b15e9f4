import { Command } from 'commander'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { createUsageError } from '../exit-codes.ts'
import { addHostsOptions, forEachHost, reportFailedHosts, selectHosts, type HostOptions } from '../hosts.ts'
import { formatBytes, formatCount, formatSeconds } from '../output/format.ts'
import { runTop } from '../top/run-top.ts'
import { loadRunningQueries } from '../top/running-query.ts'

interface TopOptions extends HostOptions {
  interval: string
  once?: boolean
}

const minSeconds = 0.5
const maxSeconds = 3_600

/** Shows the running queries live, or lists them once. */
export const createTopCommand = (context: CommandContext): Command =>
  addHostsOptions(new Command('top'))
    .description('show the running queries live; select, filter, sort and kill them')
    .option('--interval <seconds>', 'time between refreshes', '1')
    .option('--once', 'list the running queries once, as in pipes')
    .addHelpText(
      'after',
      formatExamples(
        'watchhouse top --all',
        'watchhouse top --host eu-1,eu-2 --interval 5',
        'watchhouse top --once --json',
      ),
    )
    .action(async (options: TopOptions, command) => {
      const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(options.interval) ? Number(options.interval) : 0
      if (seconds < minSeconds || seconds > maxSeconds)
        throw createUsageError(
          `invalid --interval "${options.interval}"; allowed: ${minSeconds} to ${maxSeconds} seconds`,
        )
      const { client, output } = openSession(context, command)
      const hosts = await selectHosts(client, options)
      const isLive = output.mode === 'terminal' && context.stdin.isTTY && !options.once
      if (isLive) return await runTop({ context, client, output, hosts, intervalMs: seconds * 1_000 })
      const results = await forEachHost(hosts, (host) => loadRunningQueries(client, host))
      const isPlain = output.mode === 'plain'
      const exitCode = reportFailedHosts(results, output)
      output.list({
        rows: results.flatMap((result) => ('value' in result ? result.value : [])),
        empty: 'No running queries.',
        columns: [
          { title: 'HOST', value: ({ host }) => host },
          {
            title: 'ELAPSED',
            value: ({ elapsedSeconds }) => (isPlain ? elapsedSeconds : formatSeconds(elapsedSeconds)),
            isRight: true,
          },
          { title: 'USER', value: ({ user }) => user },
          {
            title: 'MEMORY',
            value: ({ memoryBytes }) => (isPlain ? memoryBytes : formatBytes(memoryBytes)),
            isRight: true,
          },
          { title: 'ROWS', value: ({ readRows }) => (isPlain ? readRows : formatCount(readRows)), isRight: true },
          { title: 'QUERY ID', value: ({ queryId }) => queryId },
          { title: 'QUERY', value: ({ query }) => query },
        ],
      })
      if (exitCode !== 0) context.setExitCode(exitCode)
    })
