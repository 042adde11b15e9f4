import { describe, expect, it } from 'vitest'
import { edgeHeaders, isEdgeBuild } from './edge-build.ts'

describe('edge build', () => {
  it.each([
    ['true', true],
    [' On ', true],
    ['1', true],
    ['false', false],
    ['maybe', false],
    [undefined, false],
  ])('with ENABLE_EDGE_BUILD=%s is enabled: %s', (word, made) => {
    expect(isEdgeBuild({ ENABLE_EDGE_BUILD: word })).toBe(made)
  })

  it('sets the same headers as the gateway', () => {
    const [, nosniff] = edgeHeaders.split('\n')
    expect(nosniff).toBe('  X-Content-Type-Options: nosniff')
    expect(edgeHeaders).toContain('/_app/immutable/*\n  Cache-Control: public, max-age=31536000, immutable\n')
  })
})
