import { Command, Option } from 'commander'
import { changeKinds, type ChangeKind, type ListedChange } from '#proto/http/changes.ts'
import type { Client } from '../../client/client.ts'
import { type CommandContext, openSession } from '../context.ts'
import { createUsageError } from '../exit-codes.ts'
import { allOption, hostOption, selectHost, type HostOptions } from '../hosts.ts'
import { formatExamples, readLastMinutes } from '../options.ts'
import { formatInstant } from '../output/format.ts'

const defaultMinutes = 1_440
/** How long before and after an instant `--around` lists. */
const aroundMs = 3_600_000
const maxListed = 500

interface ChangesOptions extends HostOptions, RangeOptions {
  group?: string
  kind?: ChangeKind
  diff?: boolean
}

interface RangeOptions {
  last?: string
  from?: number
  to?: number
  around?: number
}

/** Lists what changed on hosts and around them, newest first. */
export const createChangesCommand = (context: CommandContext): Command =>
  new Command('changes')
    .description('list what changed on a host and around it, newest first')
    .addOption(hostOption())
    .addOption(allOption())
    .addOption(new Option('--group <group>', 'the hosts of a group').conflicts(['host', 'all']))
    .addOption(new Option('--kind <kind>', 'only this kind').choices(changeKinds))
    .option('--last <duration>', 'time range, such as 30m, 6h or 7d (default: 1d)')
    .addOption(timeOption('--from <time>', 'start, as an ISO time').conflicts('last'))
    .addOption(timeOption('--to <time>', 'end, as an ISO time (default: now)').conflicts('last'))
    .addOption(timeOption('--around <time>', 'the hour before and after').conflicts(['last', 'from', 'to']))
    .option('--diff', 'print the diff of each change')
    .addHelpText(
      'after',
      formatExamples(
        'watchhouse changes --all --last 7d --kind settings',
        'watchhouse changes --host eu-1 --around 2026-06-01T22:00:00Z --diff',
      ),
    )
    .action(async (options: ChangesOptions, command) => {
      const { client, output } = openSession(context, command)
      const { data, metadata } = await loadChanges(client, options)
      for (const problem of metadata.problems) output.note(problem)
      if (!metadata.isRecorded)
        output.note('no history is recorded, so that changes of schema, settings, access and topology are missing')
      output.list({
        rows: data,
        empty: 'No changes in this time range.',
        columns: [
          { title: 'TIME (UTC)', value: ({ atMs }) => formatInstant(atMs) },
          { title: 'HOST', value: ({ host }) => host ?? '' },
          { title: 'KIND', value: ({ kind }) => kind, tone: ({ kind }) => (kind === 'alert' ? 'warning' : undefined) },
          { title: 'CHANGE', value: ({ title }) => title },
          { title: 'DETAIL', value: ({ detail }) => detail },
          ...(options.diff ? [{ title: 'DIFF', value: ({ diff }: ListedChange) => diff ?? '' }] : []),
        ],
      })
    })

const loadChanges = async (client: Client, options: ChangesOptions) => {
  const { all, group, kind } = options
  const host = all === true || group !== undefined ? undefined : await selectHost(client, options)
  const { fromMs, toMs } = readRange(options, Date.now())
  const query = {
    from: Math.floor(fromMs / 1_000),
    to: Math.ceil(toMs / 1_000),
    limit: maxListed,
    ...(host && { hostId: host.id }),
    ...(group !== undefined && { group }),
    ...(kind && { kind }),
  }
  return client.call('GET /api/v1/changes', { query })
}

const timeOption = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((text: string): number => {
    const ms = /^\d{4}-\d{2}-\d{2}/.test(text)
      ? Date.parse(/[Zz]$|[+-]\d{2}:?\d{2}$|^.{10}$/.test(text) ? text : `${text}Z`)
      : NaN
    if (!Number.isNaN(ms)) return ms
    throw createUsageError(
      `invalid ${flags.split(' ')[0]} "${text}"; allowed: an ISO time such as 2026-01-31T08:00:00Z`,
    )
  })

const readRange = ({ last, from, to, around }: RangeOptions, nowMs: number): { fromMs: number; toMs: number } => {
  if (around !== undefined) return { fromMs: around - aroundMs, toMs: around + aroundMs }
  const toMs = to ?? nowMs
  const fromMs = from ?? toMs - (readLastMinutes(last) ?? defaultMinutes) * 60_000
  if (fromMs < toMs) return { fromMs, toMs }
  throw createUsageError(`--from must be before ${to === undefined ? 'now' : '--to'}`)
}
