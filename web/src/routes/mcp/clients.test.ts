import { describe, expect, it } from 'vitest'
import { clients } from './clients.ts'

const url = 'https://watch.example.com/api/mcp'

describe.each(clients)('what makes $title know the server', ({ text }) => {
  it('names its address, and a key where one is wanted', () => {
    expect(text({ url, wantsKey: true })).toContain(url)
    expect(text({ url, wantsKey: true })).toMatch(/Bearer|bearer_token/)
    expect(text({ url, wantsKey: false })).toContain(url)
    expect(text({ url, wantsKey: false })).not.toMatch(/bearer|key/i)
  })
})

describe('the files among them', () => {
  it.each(['claude-desktop', 'cursor', 'vs-code', 'gemini'])('that of %s is JSON', (id) => {
    for (const wantsKey of [true, false]) {
      const text = clients.find((client) => client.id === id)?.text({ url, wantsKey }) ?? ''
      expect(Object.keys(JSON.parse(text))).toContain(id === 'vs-code' ? 'servers' : 'mcpServers')
    }
  })

  it('allow the bridge an address without TLS that is not of this machine', () => {
    const bridge = clients.find(({ id }) => id === 'claude-desktop')
    expect(bridge?.text({ url: 'http://10.0.0.7:3000/api/mcp', wantsKey: false })).toContain('--allow-http')
    expect(bridge?.text({ url: 'http://localhost:3000/api/mcp', wantsKey: false })).not.toContain('--allow-http')
  })
})
