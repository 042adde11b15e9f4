import { describe, expect, it } from 'vitest'
import { mcpClients } from './clients.ts'

const url = 'https://watch.example.com/api/mcp'

describe.each(mcpClients)('configuration of $title', ({ text }) => {
  it('contains the URL, and a key if required', () => {
    expect(text({ url, requiresKey: true })).toContain(url)
    expect(text({ url, requiresKey: true })).toMatch(/Bearer|bearer_token/)
    expect(text({ url, requiresKey: false })).toContain(url)
    expect(text({ url, requiresKey: false })).not.toMatch(/bearer|key/i)
  })
})

describe('configuration files', () => {
  it.each(['claude-desktop', 'cursor', 'vs-code', 'gemini'])('for %s are valid JSON', (id) => {
    for (const requiresKey of [true, false]) {
      const text = mcpClients.find((client) => client.id === id)?.text({ url, requiresKey }) ?? ''
      expect(Object.keys(JSON.parse(text))).toContain(id === 'vs-code' ? 'servers' : 'mcpServers')
    }
  })

  it('allow the bridge plain HTTP except for localhost', () => {
    const bridge = mcpClients.find(({ id }) => id === 'claude-desktop')
    expect(bridge?.text({ url: 'http://10.0.0.7:3000/api/mcp', requiresKey: false })).toContain('--allow-http')
    expect(bridge?.text({ url: 'http://localhost:3000/api/mcp', requiresKey: false })).not.toContain('--allow-http')
  })
})
