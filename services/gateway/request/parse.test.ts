import { expect, it } from 'vitest'
import { AgentRequest } from '#proto/http/agent.ts'
import { parseRequestInput } from './parse.ts'

it.each([
  ['a text for a list', { mcpServers: 'a'.repeat(9) }, 'mcpServers must be a list'],
  [
    'an invalid URL',
    { mcpServers: [{ id: 'a', name: 'a', endpoint: 'nowhere' }] },
    'mcpServers.0.endpoint must be an http or https URL',
  ],
  [
    'a URL with another scheme',
    { mcpServers: [{ id: 'a', name: 'a', endpoint: 'ftp://a/' }] },
    'mcpServers.0.endpoint must be an http or https URL',
  ],
])('reports the problem of %s once', (_what, given, sentence) => {
  expect(() => parseRequestInput(AgentRequest, { message: 'Why?', ...given })).toThrow(new RegExp(`^${sentence}$`))
})
