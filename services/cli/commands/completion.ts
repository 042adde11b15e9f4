import { Argument, Command } from 'commander'
import { formatCompletion, shells, type Shell } from '../completion/scripts.ts'
import type { CommandContext } from '../context.ts'

/** Prints the completion script of a shell. */
export const createCompletionCommand = ({ stdout }: CommandContext): Command =>
  new Command('completion')
    .description('print a script that completes commands, options, hosts, charts and tables in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      `
bash: source <(watchhouse completion bash)
zsh:  watchhouse completion zsh > "\${fpath[1]}/_watchhouse"
fish: watchhouse completion fish > ~/.config/fish/completions/watchhouse.fish`,
    )
    .action((shell: Shell, _options, command: Command) => {
      const program = command.parent
      if (program) stdout.write(formatCompletion(shell, program.name()))
    })
