import { Command } from 'commander'
import type { ResponseBody } from '#proto/http/route.ts'
import type { Client } from '../../client/client.ts'
import { type CommandContext, openSession } from '../context.ts'
import { createUsageError, exitCodes } from '../exit-codes.ts'
import { selectHost } from '../hosts.ts'
import type { Output, Tone } from '../output/output.ts'
import { toSafeText } from '../output/terminal-text.ts'

interface SchemaDiffOptions {
  baseTime?: string
  targetTime?: string
  database?: string
  diff?: boolean
}

type SchemaDiff = ResponseBody<'GET /api/v1/schema-diff'>

const groupPrefix = 'group:'

/** Shows how the schemas of two hosts, groups or times differ. */
export const createSchemaDiffCommand = (context: CommandContext): Command =>
  new Command('schema-diff')
    .description('print the statements that turn one schema into another one, to review; nothing is executed')
    .argument('<base>', `name or id of a host, or ${groupPrefix}<name>`)
    .argument('[target]', `name or id of a host, or ${groupPrefix}<name> (default: the base, at another time)`)
    .option('--base-time <time>', 'the recorded schema of the base at this date-time')
    .option('--target-time <time>', 'the recorded schema of the target at this date-time')
    .option('--database <name>', 'only this database')
    .option('--diff', 'print a unified diff instead of statements')
    .option('--exit-code', `exit ${exitCodes.usage} if the schemas differ`)
    .action(
      async (
        base: string,
        target: string | undefined,
        options: SchemaDiffOptions & { exitCode?: boolean },
        command,
      ) => {
        const { client, output } = openSession(context, command)
        const [one, other] = await Promise.all([base, target ?? base].map((side) => readSide(client, side)))
        const answer = await client.call('GET /api/v1/schema-diff', {
          query: {
            baseHostId: one?.id,
            baseGroup: one?.group,
            baseTime: readTime('--base-time', options.baseTime),
            targetHostId: other?.id,
            targetGroup: other?.group,
            targetTime: readTime('--target-time', options.targetTime),
            database: options.database,
          },
        })
        if (output.mode === 'json') output.json({ ...answer.data, ...answer.metadata })
        else writeDiff(output, answer, options.diff === true)
        if (options.exitCode === true && answer.metadata.total > 0) context.setExitCode(exitCodes.usage)
      },
    )

const readSide = async (client: Client, side: string): Promise<{ id?: number; group?: string }> =>
  side.startsWith(groupPrefix)
    ? { group: side.slice(groupPrefix.length) }
    : { id: (await selectHost(client, { host: [side] })).id }

/** Returns the epoch seconds of a time option; undefined if it is absent. */
const readTime = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const timeMs = Date.parse(text)
  if (Number.isNaN(timeMs)) {
    throw createUsageError(`invalid ${option} "${text}"; allowed: a date-time, such as 2026-06-01T12:00:00Z`)
  }
  return Math.floor(timeMs / 1_000)
}

const tones: Readonly<Record<string, Tone>> = { rewrite: 'warning', manual: 'warning', 'data-loss': 'critical' }

const writeDiff = (output: Output, { data, metadata }: SchemaDiff, isUnified: boolean): void => {
  for (const note of metadata.notes) output.note(toSafeText(note))
  if (metadata.total === 0) output.note('The schemas do not differ.')
  if (metadata.total > data.differences.length) {
    output.note(`Only ${data.differences.length} of ${metadata.total} differences are listed. Use --database.`)
  }
  if (isUnified) for (const { diff } of data.differences) output.write(toSafeText(diff))
  else
    for (const { sql, risk, note } of data.statements) {
      const comment = [risk === 'safe' ? '' : risk, note].filter(Boolean).join(': ')
      if (comment !== '') output.line(output.paint(`-- ${toSafeText(comment).replaceAll('\n', ' ')}`, tones[risk]))
      output.line(sql.startsWith('--') ? toSafeText(sql) : `${toSafeText(sql)};`)
    }
}
