import { pino } from 'pino'
import { expect, it } from 'vitest'
import { logVerbosely } from './verbose-log.ts'

it.each([
  ['1', true],
  ['true', true],
  ['YES', true],
  ['on', true],
  ['', false],
  ['0', false],
  ['off', false],
  ['verbose', false],
])('AGENT_DEBUG=%s enables verbose logging: %s', (value, isVerbose) => {
  const logged: string[] = []
  const log = pino({}, { write: (line: string) => void logged.push(line) })
  logVerbosely({ env: { AGENT_DEBUG: value }, log }, { tool: 'query' }, 'tool called')
  expect(logged.map((line) => JSON.parse(line))).toMatchObject(isVerbose ? [{ tool: 'query', msg: 'tool called' }] : [])
})
