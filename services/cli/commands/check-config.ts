import { Command } from 'commander'
import { type CommandContext, openOutput } from '../context.ts'
import { createUsageError, exitCodes } from '../exit-codes.ts'
import { formatExamples, requireServicesNode } from '../options.ts'

/** Checks a folder of alert definitions before it is deployed. */
export const createCheckConfigCommand = (context: CommandContext): Command =>
  new Command('check-config')
    .description('check a folder of alert definitions, and the connections that the variables of a server configure')
    .argument('[folder]', 'folder of alert definitions')
    .option('--connect', 'also check the connections to all configured servers and hosts')
    .addHelpText(
      'after',
      formatExamples('watchhouse check-config health.d', 'watchhouse check-config health.d --connect'),
    )
    .action(async (folder: string | undefined, options: { connect?: boolean }, command) => {
      if (folder === undefined && !options.connect) throw createUsageError('pass a folder, --connect or both')
      requireServicesNode('check-config')
      const output = openOutput(context, command)
      // The formats of the files belong to services, which other commands do not need.
      const { checkConfig } = await import('../check-config.ts')
      const { isValid, text } = await checkConfig({ folder, isConnecting: options.connect === true }, context.env)
      const lines = text.split('\n').filter((line) => line !== '')
      if (!isValid) context.setExitCode(exitCodes.failed)
      if (output.mode === 'json') return output.json({ isValid, lines })
      for (const line of lines)
        if (isValid) output.line(line)
        else output.note(line)
    })
