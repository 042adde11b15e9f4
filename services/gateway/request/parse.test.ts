import { expect, it } from 'vitest'
import { AgentRequest } from '#proto/http/agent.ts'
import { parse } from './parse.ts'

it.each([
  ['a text for a list', { mcpServers: 'a'.repeat(9) }, 'mcpServers must be a list'],
  [
    'what is no address',
    { mcpServers: [{ id: 'a', name: 'a', endpoint: 'nowhere' }] },
    'mcpServers.0.endpoint must be an http or https URL',
  ],
  [
    'an address of another kind',
    { mcpServers: [{ id: 'a', name: 'a', endpoint: 'ftp://a/' }] },
    'mcpServers.0.endpoint must be an http or https URL',
  ],
])('says of %s once what is wrong with it', (_what, given, sentence) => {
  expect(() => parse(AgentRequest, { message: 'Why?', ...given })).toThrow(new RegExp(`^${sentence}$`))
})
