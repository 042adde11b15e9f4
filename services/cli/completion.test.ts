import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createProgram } from './program.ts'
import { formatCompletion, shells } from './completion.ts'
import type { CommandContext } from './context.ts'

const context: CommandContext = {
  env: {},
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  version: '0.0.0',
  signal: new AbortController().signal,
  setExitCode: () => undefined,
}

describe('completion', () => {
  const program = createProgram(context)

  it.each(shells)('of %s contains every command, and every option with a long name', (shell) => {
    const script = formatCompletion(shell, program)
    for (const command of program.commands) {
      expect(script).toContain(command.name())
      for (const { long } of command.options) expect(script).toContain(shell === 'fish' ? `-l ${long?.slice(2)}` : long)
    }
  })

  it.each([
    ['watchhouse ', 'top'],
    ['watchhouse to', 'top'],
    ['watchhouse query --f', '--file --format'],
    ['watchhouse query --format ', 'table csv json ndjson'],
    ['watchhouse ack rule --for ', '5m 15m 60m 4h recovery'],
    ['watchhouse completion ', 'bash zsh fish'],
  ])('of bash completes "%s"', (line, expected) => {
    const words = line.split(' ')
    const script = `${formatCompletion('bash', program)}
COMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _watchhouse; echo "\${COMPREPLY[*]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect(stderr).toBe('')
    for (const word of expected.split(' ')) expect(stdout.split(/\s+/)).toContain(word)
  })
})
