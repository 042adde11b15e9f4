import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommandHere } from '../../testing/command-line.ts'
import { completeCommand, filesDirective, formatCompletion } from './scripts.ts'

// No server listens here, so only commands, options and choices are completed.
const env = { WATCHHOUSE_CONFIG: '/nowhere/config.json', WATCHHOUSE_URL: 'http://127.0.0.1:9' }
const complete = async (shell: string, ...words: string[]) => {
  const { code, stdout, stderr } = await runCommandHere([completeCommand, shell, '--', ...words], { env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0])
}

describe('completion', () => {
  it.each([
    [['to'], ['top']],
    [['help', 'que'], ['query']],
    [['--url', 'top', 'quer'], ['query']],
    [
      ['query', '--f'],
      ['--file', '--format'],
    ],
    [['query', '--js'], ['--json']],
    [
      ['query', '--format', ''],
      ['table', 'csv', 'json', 'ndjson'],
    ],
    [['query', '--format=c'], ['--format=csv']],
    [['ack', 'rule', '--for', '6'], ['60m']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['completion', 'bash', ''], ['']],
    [['apply', './'], [filesDirective]],
    [['query', '-f', ''], [filesDirective]],
    [['query', '--host', ''], ['']],
    [['nothing', ''], expect.arrayContaining(['top', 'help'])],
  ])('of %j is %j', async (words, expected) => {
    expect(await complete('zsh', ...words)).toEqual(expected)
  })

  it('joins the words that bash splits, and returns only their last part', async () => {
    expect(await complete('bash', 'query', '--format', '=', 'nd')).toEqual(['ndjson'])
    expect(await complete('bash', '--url', 'http', ':', '//a', ':', '1', 'to')).toEqual(['top'])
  })

  it('lists every command without a hidden one', async () => {
    const found = await complete('fish', '')
    expect(found).toEqual(expect.arrayContaining(['login', 'query', 'completion', 'help']))
    expect(found).not.toContain(completeCommand)
  })

  it('of bash inserts the lines of the program, and quotes them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'watchhouse-completion-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const program = join(folder, 'program')
    writeFileSync(program, `#!/bin/sh\nprintf 'a,b\\tTitle\\ntwo words\\t\\n%s\\t\\n' "$*"\n`, { mode: 0o755 })
    const script = `${formatCompletion('bash', 'watchhouse')}
COMP_WORDS=(watchhouse query --host ''); COMP_CWORD=3; _watchhouse '${program}'; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
    expect([stderr, stdout.split('\n')]).toEqual([
      '',
      ['a,b', 'two\\ words', `${completeCommand}\\ bash\\ --\\ query\\ --host\\ `, ''],
    ])
  })
})
