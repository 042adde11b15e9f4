import { Command } from 'commander'
import { loadConditions } from '../conditions.ts'
import { type CommandContext, openSession } from '../context.ts'
import { formatExamples } from '../options.ts'
import { hostOption, selectHost, type HostOptions } from '../hosts.ts'
import { formatCell } from '../output/cells.ts'
import type { Output } from '../output/output.ts'

/** Shows the rows that explain a rule, or those of every alert of a host. */
export const createDiagnoseCommand = (context: CommandContext): Command =>
  new Command('diagnose')
    .description('show the rows that explain the alerts of a host')
    .argument('[rule]', 'id of a rule (default: every rule that is pending or firing on the host)')
    .addOption(hostOption())
    .addHelpText('after', formatExamples('watchhouse diagnose', 'watchhouse diagnose too-many-parts --host eu-1'))
    .action(async (rule: string | undefined, options: HostOptions, command) => {
      const { client, output } = openSession(context, command)
      const host = await selectHost(client, options)
      const rules = rule === undefined ? await listRules() : [{ ruleId: rule, title: rule }]
      if (rules.length === 0 && output.mode !== 'json')
        output.note(`No alerts are pending or firing on "${host.name}".`)
      const found = []
      for (const { ruleId, title } of rules) {
        const { data, metadata } = await client.call('POST /api/v1/health/actions', {
          body: { hostId: host.id, ruleId },
        })
        const diagnosis = { host: host.name, ruleId, title, ...data, unavailable: metadata.unavailable }
        found.push(diagnosis)
        if (output.mode !== 'json') writeDiagnosis(output, diagnosis)
      }
      if (output.mode === 'json') output.json(found)

      async function listRules() {
        const { conditions } = await loadConditions(client)
        // Custom rules and conditions of inbound events have no diagnostic.
        return conditions.filter(({ hostId, ruleId }) => hostId === host.id && !ruleId.startsWith('custom:'))
      }
    })

interface Diagnosis {
  ruleId: string
  title: string
  columns: readonly string[]
  rows: readonly (readonly unknown[])[]
  unavailable: string | null
}

const writeDiagnosis = (output: Output, { ruleId, title, columns, rows, unavailable }: Diagnosis): void => {
  if (output.mode === 'terminal')
    output.line(output.paint(title === ruleId ? ruleId : `${title} (${ruleId})`, 'strong'))
  if (unavailable !== null) output.note(`${ruleId}: ${unavailable}`)
  else
    output.list<readonly unknown[]>({
      rows,
      empty: 'No rows.',
      columns: columns.map((name, index) => ({
        title: name,
        value: (row) => formatCell(row[index]),
        isRight: rows.every((row) => row[index] === null || typeof row[index] === 'number'),
      })),
    })
  if (output.mode === 'terminal') output.line()
}
